/**
 * `npm run release`: serves HEAD on staging, and then the same commit in production, by wrangler's own commands. After a failure,
 * and after Ctrl-C, it serves the old version again. docs/operations.md explains releases.
 */
import { readdir } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import { environmentOfKey } from '../src/auth/key-format.ts';
import {
  confirm,
  createProgram,
  type DeployedEnvironment,
  integerFrom,
  onStop,
  run,
  safeMessage,
  yesOption,
} from './command/command-line.ts';
import { git } from './command/git.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { readConfig, readResult, requireSetUp, runWranglerIn } from './command/wrangler.ts';
import { smokeTest, testReads } from './release/smoke.ts';

type Options = { hold?: number; yes?: true; dryRun?: true };

const dryRunOption = new Option('--dry-run', 'check, print what would change, and change nothing');

export const program = createProgram('npm run release --', 'Releases the store.');
program
  .command('staging')
  .description('Releases HEAD to staging.')
  .addOption(dryRunOption)
  .action((options) => release('staging', options));
program
  .command('promote')
  .description('Releases HEAD to production, if staging serves it.')
  .option(
    '--hold <seconds>',
    'how long the new version gets 10 % of the requests, while it is tested; 0: not at all',
    integerFrom(0, 3600),
    300,
  )
  .addOption(dryRunOption)
  .addOption(yesOption)
  .action((options) => release('production', options));

async function release(env: DeployedEnvironment, { hold = 0, yes, dryRun }: Options) {
  const stop = new AbortController();
  onStop(() => {
    console.log('Going back, once the command that runs has ended.');
    stop.abort(new Error('interrupted'));
  });
  const plan = await prepare(env);
  if (dryRun) return;
  await confirm(`release commit ${plan.commit}`, env, yes, stop.signal);
  if (readCommit() !== plan.commit) throw new Error('another commit was checked out');
  const rollout = { ...plan, next: '', served: [`${plan.old.id}@100%`], signal: stop.signal };
  try {
    await rollOut(rollout, hold);
  } catch (cause) {
    // After an interrupt, `cause` may be only its consequence.
    console.error('error:', safeMessage(stop.signal.aborted ? stop.signal.reason : cause));
    await goBack(rollout);
    throw new Error(`${env} serves ${await readShares(env)}`, { cause });
  }
  console.log(`${env} serves ${rollout.next} to all.`);
}

/** Checks what must hold before a release, and prints what it will change. */
async function prepare(env: DeployedEnvironment) {
  requireSetUp(env);
  const apiKey = requireSmokeKey(env);
  const commit = readCommit();
  if (env === 'production') await requireOnStaging(commit);
  const { name, vars } = await readConfig(env);
  const old = await readServedVersion(env);
  const clients = { baseUrl: String(vars.BASE_URL), apiKey, version: old.id };
  // A release that fails goes back to the old version.
  await testReads(clients);
  const pending = await readPendingMigrations(env);
  console.log(`${env} serves version ${old.id}. Commits that it gets (>) or loses (<):`);
  console.log(listCommits(old.annotations['workers/tag'], commit) || 'none');
  console.log('Migrations to apply:', pending.join(', ') || 'none');
  console.log('To serve again what is served now:', commandOf(env, ...deploymentOf(old)));
  return { env, commit, name, old, clients, pending };
}

/** `served`: what this release has deployed last. */
type Rollout = Awaited<ReturnType<typeof prepare>> & {
  next: string;
  served: string[];
  signal: AbortSignal;
};

async function rollOut(rollout: Rollout, hold: number) {
  const { env, old, clients, signal } = rollout;
  const next = await uploadVersion(env, rollout.commit);
  rollout.next = next;
  requireSameBindings(old, await readVersion(env, next));
  if (rollout.pending.length > 0) await applyMigrations(rollout);
  await deploy(rollout, `${next}@0%`, `${old.id}@100%`);
  const override = { ...clients, version: next, override: `${rollout.name}="${next}"` };
  await (env === 'staging' ? smokeTest : testReads)(override);
  if (hold > 0) await deploy(rollout, `${next}@10%`, `${old.id}@90%`);
  for (const end = Date.now() + hold * 1000; Date.now() < end; ) {
    await testReads(override);
    await pause(Math.min(hold, 15) * 1000, undefined, { signal });
  }
  await deploy(rollout, `${next}@100%`);
  await testReads({ ...clients, version: next });
  // Wrangler reads the routes and crons from the checkout.
  if (readCommit() !== rollout.commit) throw new Error('another commit was checked out');
  await change(rollout, 'triggers', 'deploy');
  await testReads({ ...clients, version: next });
  await requireUnchanged(rollout);
}

async function deploy(rollout: Rollout, ...shares: string[]) {
  await change(rollout, 'versions', 'deploy', ...shares, '--yes');
  rollout.served = shares.sort();
}

/** Runs a command that changes what is served, unless somebody else has deployed or pressed Ctrl-C. */
async function change(rollout: Rollout, ...args: string[]) {
  await requireUnchanged(rollout);
  console.log('wrangler', ...args);
  // Ctrl-C does not end it, because a call that is cut off may still take effect.
  await runWranglerIn(rollout.env, args, { detached: true });
}

async function requireUnchanged({ env, served, signal }: Rollout) {
  const shares = await readShares(env);
  signal.throwIfAborted();
  if (!isDeepStrictEqual(shares, served)) throw new Error(`somebody else deployed ${shares}`);
}

async function applyMigrations(rollout: Rollout) {
  const restore = ['d1', 'time-travel', 'restore', 'DB', '--timestamp', new Date().toISOString()];
  console.log('To restore the data:', commandOf(rollout.env, ...restore));
  await change(rollout, 'd1', 'migrations', 'apply', 'DB', '--remote');
  // Wrangler 4.164 exits with 0 also when D1 answers that a statement failed: https://github.com/cloudflare/workers-sdk/issues/3365
  const failed = await readPendingMigrations(rollout.env);
  if (failed.length > 0) throw new Error(`migrations failed: ${failed}`);
}

/** The pauses before the attempts to go back: a failed call may still take effect seconds later. */
const ATTEMPTS_S = [0, 15, 15, 30, 60];

/** Serves the old version to all, unless somebody else has deployed. @throws Error with the command, if that cannot be confirmed. */
async function goBack(rollout: Rollout) {
  const command = commandOf(rollout.env, ...deploymentOf(rollout.old));
  console.log('Going back:', command);
  for (const seconds of ATTEMPTS_S) {
    await pause(seconds * 1000);
    const isServed = await restore(rollout).catch((error) => {
      console.error('error:', safeMessage(error));
      return false;
    });
    if (isServed && seconds > 0) return;
  }
  throw new Error(`could not confirm it. Run: ${command}`);
}

/** Returns whether the old version, or what somebody else has deployed, was served already. */
async function restore({ env, old, next }: Rollout): Promise<boolean> {
  const shares = await readShares(env);
  const versions = shares.map((share) => share.replace(/@.*/, ''));
  if (versions.join() === old.id || !versions.every((id) => id === old.id || id === next))
    return true;
  await runWranglerIn(env, deploymentOf(old), { detached: true });
  return false;
}

function deploymentOf({ id }: Version) {
  return ['rollback', id];
}

function commandOf(env: DeployedEnvironment, ...args: string[]) {
  return `npx wrangler ${args.join(' ')} --env ${env} --config wrangler.toml`;
}

function requireSmokeKey(env: DeployedEnvironment): string {
  // A secret often ends in a line break.
  const key = (process.env.SMOKE_API_KEY ?? '').trim();
  if (environmentOfKey(key) === env) return key;
  throw new Error(`SMOKE_API_KEY must be an API key of ${env}: docs/operations.md#release`);
}

/** Returns the id of HEAD. @throws Error unless the files are those of HEAD. */
function readCommit(): string {
  const changed = git('status', '--porcelain', '--untracked-files=all');
  const ignored = git('ls-files', '-oi', '--exclude-standard', 'src', 'public', 'migrations');
  if (changed || ignored) throw new Error(`commit or remove first: ${changed} ${ignored}`);
  return git('rev-parse', 'HEAD');
}

function listCommits(served: unknown, next: string): string {
  try {
    return git('log', '--oneline', '--left-right', '--end-of-options', `${served}...${next}`);
  } catch {
    return 'unknown: the served version is of no commit in this clone';
  }
}

async function requireOnStaging(commit: string) {
  requireSetUp('staging');
  const served = (await readServedVersion('staging')).annotations['workers/tag'];
  if (served !== commit) throw new Error(`staging serves the commit ${served}, not ${commit}`);
}

async function readJson<Json>(env: DeployedEnvironment, ...args: string[]): Promise<Json> {
  return JSON.parse(await runWranglerIn(env, [...args, '--json'], { detached: true }));
}

type Deployment = { versions: { version_id: string; percentage: number }[] };
type Version = {
  id: string;
  annotations: Record<string, unknown>;
  resources: { bindings: { name: string }[] };
};
type Migrations = { results: { name: string }[] };

/** What the newest deployment serves, sorted, such as `1b4e28ba-…@10%` and `6fa459ea-…@90%`. */
async function readShares(env: DeployedEnvironment): Promise<string[]> {
  const { versions } = await readJson<Deployment>(env, 'deployments', 'status');
  return versions.map(({ version_id, percentage }) => `${version_id}@${percentage}%`).sort();
}

/** The version that serves all requests. @throws Error if two do. */
async function readServedVersion(env: DeployedEnvironment): Promise<Version> {
  const [share = '', ...others] = await readShares(env);
  if (others.length > 0)
    throw new Error(`a release is unfinished: ${env} serves ${[share, ...others]}`);
  return readVersion(env, share.replace(/@.*/, ''));
}

function readVersion(env: DeployedEnvironment, id: string): Promise<Version> {
  return readJson(env, 'versions', 'view', id);
}

/** The migrations that are not applied. */
async function readPendingMigrations(env: DeployedEnvironment): Promise<string[]> {
  const query = ['--remote', '--command', 'SELECT name FROM d1_migrations'];
  const [applied] = await readJson<[Migrations]>(env, 'd1', 'execute', 'DB', ...query);
  const names = applied.results.map(({ name }) => name);
  return (await readdir('migrations')).filter((file) => !names.includes(file)).sort();
}

/** Uploads HEAD as a version that serves nothing yet. `--strict` refuses a worker that was changed in the dashboard. */
async function uploadVersion(env: DeployedEnvironment, commit: string): Promise<string> {
  const upload = ['versions', 'upload', '--tag', commit, '--strict'];
  console.log('wrangler', ...upload);
  return (await readResult<{ version_id: string }>(env, upload)).version_id;
}

/** What two versions that share the requests must have in common: an upload gets the secrets of the newest version, not of the served one. */
const COMMON = ['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'];

function requireSameBindings(...versions: Version[]) {
  const [old, next] = versions.map(({ resources }) =>
    resources.bindings.filter(({ name }) => COMMON.includes(name)),
  );
  if (!isDeepStrictEqual(new Set(old), new Set(next)))
    throw new Error(`the served version has another ${COMMON}: docs/operations.md#release`);
}

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}
