/**
 * `npm run release`: serves HEAD on staging, and then the same commit in production, by wrangler's own commands. After a failure,
 * and after Ctrl-C, it serves the old version again. docs/operations.md explains releases.
 */
import { appendFileSync, cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
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
  visible,
  yesOption,
} from './command/command-line.ts';
import {
  identityOf,
  joinShares,
  readJson,
  readPendingMigrations,
  readServedVersion,
  readShares,
  readVersion,
  requireMigrated,
  type Version,
} from './command/deployed.ts';
import { git, readCommit } from './command/git.ts';
import { PROJECT_ROOT } from './command/project-root.ts';
import { accountApi } from './command/request.ts';
import { readConfig, requireSetUp, runWranglerIn } from './command/wrangler.ts';
import { smokeTest, testReads } from './release/smoke.ts';
import { readLog, watch } from './release/watch.ts';

type Options = { hold?: number; yes?: true; dryRun?: true };

const dryRunOption = new Option('--dry-run', 'check, print what would change, and change nothing');

export const program = createProgram('npm run release --', 'Releases the store.');
program
  .command('staging')
  .description('Releases HEAD to staging.')
  .addOption(dryRunOption)
  .action((options) => release('staging', { ...options, hold: 0 }));
program
  .command('promote')
  .description('Releases HEAD to production, if staging serves it.')
  .option(
    '--hold <seconds>',
    'how long the log is watched while the new version gets 10 % of the requests, at least 60 (default: 300); 0: not at all. Without CLOUDFLARE_API_TOKEN, you are asked',
    integerFrom(0, 3600),
  )
  .addOption(dryRunOption)
  .addOption(yesOption)
  .action((options) => release('production', options));

async function release(env: DeployedEnvironment, { hold, yes, dryRun }: Options) {
  const stop = new AbortController();
  onStop(() => {
    console.log('Stopping, once the command that runs has ended.');
    stop.abort(new Error('interrupted'));
  });
  const plan = await prepare(env, hold);
  if (dryRun) return;
  await confirm(`release commit ${plan.commit}`, env, yes, stop.signal);
  const served = `${plan.old.id}@100%`;
  const rollout = { ...plan, served, attempted: served, signal: stop.signal };
  try {
    await rollOut(rollout);
  } catch (cause) {
    // After an interrupt, `cause` may be only its consequence.
    console.error('error:', safeMessage(stop.signal.aborted ? stop.signal.reason : cause));
    const shares = await goBack(rollout);
    // Nobody is to go back once more: that could override a person who has given the new version all requests.
    writeOutput('old', '');
    throw new Error(`failed: ${env} serves ${shares}`, { cause });
  }
  console.log(`${env} serves ${rollout.served} to all.`);
}

type Rollout = Awaited<ReturnType<typeof prepare>> & {
  /** What this release has deployed last. */
  served: string;
  /** What it has tried to deploy last: a call that failed may take effect. */
  attempted: string;
  signal: AbortSignal;
};

/** Checks what must hold before a release, and prints what it will change. */
async function prepare(env: DeployedEnvironment, hold = 300) {
  requireSetUp(env);
  const commit = readCommit();
  const apiKey = requireSmokeKey(env);
  freezeConfig();
  if (env === 'production') await requireOnStaging(commit);
  const { name, account_id: account = '', vars } = await readConfig(env);
  const api = accountApi(account, process.env.CLOUDFLARE_API_TOKEN ?? '');
  const now = Date.now();
  if (hold > 0 && api.apiKey) await readLog(api, now, now);
  else if (hold > 0 && !process.stdin.isTTY)
    throw new Error('nobody would watch the 10 %: set CLOUDFLARE_API_TOKEN, or add --hold 0');
  const old = await readServedVersion(env);
  const clients = { baseUrl: String(vars.BASE_URL), apiKey, version: old.id };
  // A release that fails goes back to the old version.
  await testReads(clients);
  const pending = await readPendingMigrations(env);
  console.log(`${env} serves version ${old.id}. Commits that it gets (>) or loses (<):`);
  for (const line of listCommits(old.annotations['workers/tag'], commit))
    console.log(visible(line));
  console.log('Migrations to apply:', visible(pending.join(', ')) || 'none');
  console.log('To serve again what is served now:', commandOf(env, 'rollback', old.id));
  writeOutput('old', old.id);
  return { env, commit, name, api, hold, old, clients, pending };
}

async function rollOut(rollout: Rollout) {
  const { env, old, clients, hold, api, signal } = rollout;
  const next = await uploadVersion(rollout);
  rejectOtherStore(old, await readVersion(env, next));
  if (rollout.pending.length > 0) await applyMigrations(rollout);
  await deploy(rollout, `${next}@0%`, `${old.id}@100%`);
  const override = { ...clients, version: next, override: `${rollout.name}="${next}"` };
  await (env === 'staging' ? smokeTest : testReads)(override);
  if (hold > 0) {
    await deploy(rollout, `${next}@10%`, `${old.id}@90%`);
    if (api.apiKey) await watch(api, override, old.id, Math.max(hold, 60), signal);
    else await confirm(`give ${next} all requests, instead of 10 %,`, env, false, signal);
  }
  await deploy(rollout, `${next}@100%`);
  await testReads({ ...clients, version: next });
  await change(rollout, ['triggers', 'deploy']);
  await testReads({ ...clients, version: next });
  await requireUnchanged(rollout);
}

function deploy(rollout: Rollout, ...shares: string[]) {
  const command = ['versions', 'deploy', ...shares, '--yes'];
  return change(rollout, command, { attempted: joinShares(shares) });
}

/**
 * Runs a command that changes Cloudflare, unless somebody else has deployed, changed the checkout or pressed Ctrl-C. `attempted`:
 * what it is to serve.
 */
async function change(
  rollout: Rollout,
  args: string[],
  { attempted = rollout.served, env = {} } = {},
) {
  await requireUnchanged(rollout);
  rollout.attempted = attempted;
  console.log('wrangler', ...args);
  // Ctrl-C does not end it, because a call that is cut off may still take effect.
  await runWranglerIn(rollout.env, args, { detached: true, env });
  rollout.served = attempted;
}

async function requireUnchanged({ env, commit, served, signal }: Rollout) {
  const shares = await readShares(env, FROZEN);
  signal.throwIfAborted();
  if (shares !== served) throw new Error(`somebody else deployed ${shares}`);
  if (readCommit() !== commit) throw new Error('another commit was checked out');
}

async function applyMigrations(rollout: Rollout) {
  const { env } = rollout;
  const info = ['d1', 'time-travel', 'info', 'DB'];
  const { bookmark } = await readJson<{ bookmark: string }>(env, info);
  const restore = ['d1', 'time-travel', 'restore', 'DB', '--bookmark', bookmark];
  console.log('To restore the data:', commandOf(env, ...restore));
  await change(rollout, ['d1', 'migrations', 'apply', 'DB', '--remote']);
  await requireMigrated(env);
}

/** The pauses before the attempts to go back: a failed call may still take effect seconds later. */
const ATTEMPTS_S = [0, 15, 15, 30, 60];

/** Serves the old version to all, unless somebody else has deployed. Returns what is served. @throws Error with the command, if that cannot be confirmed. */
async function goBack({ env, old, served, attempted }: Rollout): Promise<string> {
  const command = commandOf(env, 'rollback', old.id);
  console.log('Going back:', command);
  for (const seconds of ATTEMPTS_S) {
    await pause(seconds * 1000);
    try {
      const shares = await readShares(env, FROZEN);
      if (shares !== `${old.id}@100%` && [served, attempted].includes(shares))
        await runWranglerIn(env, ['rollback', old.id], { detached: true, cwd: FROZEN });
      else if (seconds > 0) return shares;
    } catch (error) {
      console.error('error:', safeMessage(error));
    }
  }
  throw new Error(`could not confirm it. Run: ${command}`);
}

/** Has a copy of wrangler.toml. With an edited one, the way back would lead to another worker. */
const FROZEN = join(PROJECT_ROOT, 'dist/release');

function freezeConfig() {
  rmSync(FROZEN, { recursive: true, force: true });
  // Creates the folder, too.
  cpSync('wrangler.toml', join(FROZEN, 'wrangler.toml'));
}

function commandOf(env: DeployedEnvironment, ...args: string[]) {
  return `npx wrangler ${args.join(' ')} --env ${env} --config wrangler.toml`;
}

/** For the step of release.yml that goes back when this process was killed. An output that is written twice has its last value. */
function writeOutput(name: string, value: string) {
  const file = process.env.GITHUB_OUTPUT;
  if (file) appendFileSync(file, `${name}=${value}\n`);
}

function requireSmokeKey(env: DeployedEnvironment): string {
  // A secret often ends in a line break.
  const key = (process.env.SMOKE_API_KEY ?? '').trim();
  if (environmentOfKey(key) === env) return key;
  throw new Error(`SMOKE_API_KEY must be an API key of ${env}: docs/operations.md#release`);
}

function listCommits(served: unknown, next: string): string[] {
  try {
    const range = ['--end-of-options', `${served}...${next}`];
    return (git('log', '--oneline', '--left-right', ...range) || 'none').split('\n');
  } catch {
    return ['unknown: the served version is of no commit in this clone'];
  }
}

async function requireOnStaging(commit: string) {
  requireSetUp('staging');
  const served = (await readServedVersion('staging')).annotations['workers/tag'];
  if (served !== commit) throw new Error(`staging serves the commit ${served}, not ${commit}`);
}

/** Uploads HEAD as a version that serves nothing yet. `--strict` refuses a worker that was changed in the dashboard. */
async function uploadVersion(rollout: Rollout): Promise<string> {
  const file = join(FROZEN, 'upload.ndjson');
  const upload = ['versions', 'upload', '--tag', rollout.commit, '--strict'];
  await change(rollout, upload, { env: { WRANGLER_OUTPUT_FILE_PATH: file } });
  // Each line is JSON, and the last one is the result.
  const { version_id } = JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '');
  writeOutput('next', version_id);
  return version_id;
}

/** Two versions that share the requests must use one store. An upload gets the secrets of the newest version, not of the served one. */
function rejectOtherStore(old: Version, next: Version) {
  for (const name of ['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'])
    if (identityOf(old, name) !== identityOf(next, name))
      throw new Error(`the served version has another ${name}: docs/operations.md#release`);
}

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}
