/**
 * `npm run release`: serves HEAD on staging, and then the same commit in production, by wrangler's
 * own commands. At each moment, one version has all requests. After a failure, and after Ctrl-C, it
 * is the old one again. docs/operations.md explains releases.
 */
import { globSync, readFileSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Option } from 'commander';
import { environmentOfKey } from '../src/auth/key-format.ts';
import { openAccount, readOwner } from './command/account.ts';
import {
  confirm,
  createProgram,
  type DeployedEnvironment,
  run,
  safeMessage,
  visible,
  yesOption,
} from './command/command-line.ts';
import {
  identityOf,
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
import { withTemporaryFile } from './command/temporary-file.ts';
import { readConfig, requireSetUp, runWranglerIn } from './command/wrangler.ts';
import { smokeTest, testReads } from './release/smoke.ts';

type Options = { yes?: true; dryRun?: true };

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
  .addOption(dryRunOption)
  .addOption(yesOption)
  .action((options) => release('production', options));

async function release(env: DeployedEnvironment, { yes, dryRun }: Options) {
  const plan = await prepare(env);
  if (dryRun) return;
  await confirm(`release commit ${plan.commit}`, env, yes);
  // If these fail or are killed, the old version goes on serving.
  const next = await uploadVersion(plan);
  rejectOtherStore(plan.old, await readVersion(env, next));
  if (plan.pending.length > 0) await applyMigrations(plan);
  try {
    await rollOut(plan, next);
  } catch (cause) {
    console.error('error:', safeMessage(cause));
    throw new Error(`failed: ${env} serves ${await goBack(plan, next)}`, { cause });
  }
  console.log(`${env} serves ${next} to all.`);
}

type Plan = Awaited<ReturnType<typeof prepare>>;

/** Checks what must hold before a release, and prints what it will change. */
async function prepare(env: DeployedEnvironment) {
  requireSetUp(env);
  requireInstalled();
  const commit = readCommit();
  const apiKey = requireSmokeKey(env);
  if (env === 'production') await requireOnStaging(commit);
  const { name, vars } = await requireHosts(env);
  const old = await readServedVersion(env);
  const clients = { baseUrl: String(vars.BASE_URL), apiKey, version: old.id };
  // A release that fails goes back to the old version.
  await testReads(clients).catch((cause: Error) => {
    const advice = 'docs/operations.md#roll-back';
    throw new Error(`the served version fails its test: ${advice} (${cause.message})`, { cause });
  });
  const pending = await readPendingMigrations(env);
  console.log(`${env} serves version ${old.id}. Commits that it gets (>) or loses (<):`);
  for (const line of listCommits(old.annotations?.['workers/tag'], commit))
    console.log(visible(line));
  console.log('Migrations to apply:', visible(pending.join(', ')) || 'none');
  console.log('To serve again what is served now:', commandOf(env, 'rollback', old.id));
  return { env, commit, name, old, clients, pending };
}

/** Tests the new version while it has no requests, and then gives it all. */
async function rollOut(plan: Plan, next: string) {
  const { env, name, old, clients } = plan;
  const stop = new AbortController();
  // A terminal sends Ctrl-C also to the command that runs, and GitHub to this process alone.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => {
      console.error('Interrupted.');
      stop.abort(new Error('interrupted'));
    });
  const deploy = async (...shares: string[]) => {
    await change(plan, ['versions', 'deploy', ...shares, '--yes']);
    stop.signal.throwIfAborted();
  };
  const store = { ...clients, version: next, signal: stop.signal };
  await requireServed(env, `${old.id}@100%`);
  await deploy(`${next}@0%`, `${old.id}@100%`);
  const test = env === 'staging' ? smokeTest : testReads;
  // https://developers.cloudflare.com/workers/versions-and-deployments/version-overrides/
  await test({ ...store, override: `${name}="${next}"` });
  await requireServed(env, `${old.id}@100%`, `${next}@0%`);
  await deploy(`${next}@100%`);
  await testReads(store);
  await requireHosts(env);
  // Experimental in wrangler 4.164: it may change.
  await change(plan, ['triggers', 'deploy']);
  await testReads(store);
}

/** Runs a command that changes Cloudflare. */
async function change({ env, commit }: Plan, args: string[], variables = {}) {
  if (readCommit() !== commit) throw new Error('another commit was checked out');
  console.log('wrangler', ...args);
  await runWranglerIn(env, args, { env: variables });
}

/** Cloudflare would accept a deployment over that of somebody else. */
async function requireServed(env: DeployedEnvironment, ...expected: string[]) {
  const shares = await readShares(env);
  if (!expected.every((each) => shares.includes(each)))
    throw new Error(`somebody else deployed ${shares.join(' ')}`);
}

/**
 * Uploads HEAD as a version that serves nothing yet. `--strict` refuses a worker that was changed
 * in the dashboard.
 */
function uploadVersion(plan: Plan): Promise<string> {
  // Git ignores the packed client, so it may be of another commit. The build packs it again.
  for (const file of globSync('public/client-*.tgz')) rmSync(file);
  return withTemporaryFile(async (WRANGLER_OUTPUT_FILE_PATH) => {
    const args = ['versions', 'upload', '--tag', plan.commit, '--strict'];
    await change(plan, args, { WRANGLER_OUTPUT_FILE_PATH });
    // Each line is JSON, and the last one is the result.
    const lines = readFileSync(WRANGLER_OUTPUT_FILE_PATH, 'utf8').trim().split('\n');
    return JSON.parse(lines.at(-1) ?? '').version_id;
  });
}

async function applyMigrations(plan: Plan) {
  const info = ['d1', 'time-travel', 'info', 'DB'];
  const { bookmark } = await readJson<{ bookmark: string }>(plan.env, info);
  const restore = ['d1', 'time-travel', 'restore', 'DB', '--bookmark', bookmark];
  console.log('To restore the data:', commandOf(plan.env, ...restore));
  await change(plan, ['d1', 'migrations', 'apply', 'DB', '--remote']);
  await requireMigrated(plan.env);
}

/**
 * The pauses before each look: a call that failed may take effect seconds later, and Cloudflare's
 * API can answer 429 for five minutes.
 */
const PAUSES_S = [0, 15, 45, 120, 180, 60];

/**
 * Serves the old version to all, unless somebody else has deployed. Returns what is served.
 *
 * @throws Error with the command, if that cannot be confirmed.
 */
async function goBack({ env, old, commit }: Plan, next: string): Promise<string> {
  const command = commandOf(env, 'rollback', old.id);
  for (const seconds of PAUSES_S) {
    await pause(seconds * 1000);
    try {
      requireConfigOf(commit);
      const shares = await readShares(env);
      if (shares.includes(`${next}@100%`)) {
        console.log('Going back:', command);
        await runWranglerIn(env, ['rollback', old.id]);
      } else if (seconds > 0) return shares.join(' ');
    } catch (error) {
      console.error('error:', safeMessage(error));
    }
  }
  throw new Error(`could not confirm what ${env} serves. Run: ${command}`);
}

/** With another wrangler.toml, wrangler could act on another worker. */
function requireConfigOf(commit: string) {
  if (git('diff', commit, '--', 'wrangler.toml')) throw new Error('restore wrangler.toml');
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

/**
 * @throws Error unless npm has installed the packages of package-lock.json, which are built into the
 * worker.
 */
function requireInstalled() {
  type Packages = Record<string, { optional?: boolean }>;
  const read = (file: string): Packages => JSON.parse(readFileSync(file, 'utf8')).packages;
  const locked = read('package-lock.json');
  // npm's list of what it has installed.
  const installed = read('node_modules/.package-lock.json');
  const others = Object.keys({ ...locked, ...installed }).filter(
    (path) =>
      path.includes('node_modules/') &&
      !isDeepStrictEqual(installed[path], locked[path]) &&
      // Those for other systems are not installed.
      (installed[path] || !locked[path]?.optional),
  );
  if (others.length > 0) throw new Error(`run npm ci: package-lock.json has another ${others[0]}`);
}

function listCommits(served: unknown, next: string): string[] {
  try {
    const range = ['--end-of-options', `${served}...${next}`];
    return (git('log', '--oneline', '--left-right', ...range) || 'none').split('\n');
  } catch {
    return ['unknown: the served version is of no commit in this clone'];
  }
}

/**
 * @throws Error if the routes have a host that is not the worker's: without a terminal, wrangler
 * takes it over without a question.
 */
async function requireHosts(env: DeployedEnvironment) {
  const config = await readConfig(env);
  const { name, account_id = '', routes = [] } = config;
  for (const route of routes) {
    if (typeof route === 'string' || !('custom_domain' in route)) continue;
    const owner = await readOwner(await openAccount(env, account_id), route.pattern);
    if (owner === name) continue;
    throw new Error(`${route.pattern} is not a host of ${name}: docs/set-up.md#a-host-of-your-own`);
  }
  return config;
}

async function requireOnStaging(commit: string) {
  requireSetUp('staging');
  const served = (await readServedVersion('staging')).annotations?.['workers/tag'];
  if (served !== commit) throw new Error(`staging serves the commit ${served}, not ${commit}`);
}

/**
 * Two versions that share the requests must use one store. An upload gets the secrets of the newest
 * version, not of the served one.
 */
function rejectOtherStore(old: Version, next: Version) {
  for (const name of ['DB', 'API_KEYS', 'BASE_URL', 'WRITES_STOPPED'])
    if (identityOf(old, name) !== identityOf(next, name))
      throw new Error(`the served version has another ${name}: docs/operations.md#release`);
}

if (import.meta.main) {
  process.chdir(PROJECT_ROOT);
  await run(program);
}
