/**
 * `npm run release`: HEAD to staging, the same commit to production, and back. docs/operations.md explains it. Cloudflare's
 * list of deployments is the only state. A run recognises its own deployments by its id, which is their message.
 */
import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod/mini';
import {
  confirm,
  createProgram,
  type DeployedEnvironment,
  integerFrom,
  onStop,
  run,
  safeMessage,
} from './command-line.ts';
import {
  type Deployment,
  describe,
  isOf,
  onlyVersionOf,
  read,
  readNewest,
  readTarget,
  readVersion,
  serve,
  sharesOf,
  type Target,
  type Version,
  wrangler,
} from './deployments.ts';
import { hostOf } from './host.ts';
import { requireMigrated } from './migrations.ts';
import { type Store, smokeTest, testReads } from './smoke.ts';
import { watchErrors } from './tail.ts';
import { PROJECT_ROOT, runWrangler } from './wrangler.ts';

type VersionStore = Store & { version: string };
type Build = { commit: string; script: string; sha256: string };

/** A run, as `undo` knows it from its deployments. */
type Run = {
  id: string;
  target: Target;
  /** The id of the version to serve again. */
  old: string;
};

type Rollout = Run & {
  build: Build;
  /** The id of the deployment before this run. */
  startId: string;
  hasDeployed: boolean;
  /** Log settings, routes and crons that could not be set, each with the command that sets them. */
  failedSettings: string[];
};

type Options = { run: string; hold: number; unwatched?: true; resumeWrites?: true; yes?: true };
type BackOptions = { env: DeployedEnvironment; force?: true; yes?: true };

/** A call that failed may take effect up to this much later. */
const SETTLE_MS = 15_000;

const apiKey = process.env.SMOKE_API_KEY ?? '';
const stop = new AbortController();
const { signal } = stop;
onStop(() => stop.abort(new Error('interrupted')));

const yes = ['--yes', 'do not ask'] as const;
const resumeWrites = ['--resume-writes', 'also if this resumes writes that are stopped'] as const;
const env = new Option('--env <name>').choices(['staging', 'production']).makeOptionMandatory();
const runOption = new Option('--run <id>', 'marks its deployments, for undo')
  .default(randomUUID(), 'random')
  .argParser(parseRunId);

export const program = createProgram('npm run release --', 'Releases the store, and goes back.');
program
  .command('staging')
  .description('Releases HEAD to staging.')
  .option(...resumeWrites)
  .addOption(runOption)
  .action((options: Options) => release('staging', options));
program
  .command('promote')
  .description('Releases HEAD to production, if staging serves it.')
  .option('--hold <seconds>', 'how long it holds 10 %', integerFrom(0, 86_400), 300)
  .option('--unwatched', 'do not watch the log for 500s meanwhile')
  .option(...resumeWrites)
  .addOption(runOption)
  .option(...yes)
  .action((options: Options) => release('production', options));
program
  .command('rollback')
  .description('Serves a version to all.')
  .argument('<version>', 'its id: npx wrangler versions list --env <name>', parseVersionId)
  .addOption(env)
  .option('--force', 'even if the store, its address or the stop of writes changes')
  .option(...yes)
  .action(rollback);
program
  .command('undo <run>')
  .description('Goes back from a run that was killed, unless somebody has deployed since.')
  .addOption(env)
  .option(...yes)
  .action(undo);
if (import.meta.main) await run(program);

async function release(environment: DeployedEnvironment, options: Options) {
  // A folder of this run: another release in this checkout must not replace it.
  const folder = join(PROJECT_ROOT, 'dist', randomUUID());
  try {
    const build = await buildHead(folder);
    const rollout = await prepare(readTarget(environment), build, options);
    await rollOut(rollout, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks all that the release relies on, and asks. Changes nothing. */
async function prepare(target: Target, build: Build, options: Options): Promise<Rollout> {
  const { environment } = target;
  requireOwnHost(target);
  requireSeparateStores(target);
  if (environment === 'production') await requireTested(build);
  const start = await readStart(target);
  requireSameStore(target, start.version);
  await testReads(storeOf(target, start.version.id));
  await printChange(start.version, build);
  await confirm(`release commit ${build.commit}`, environment, options.yes, signal);
  // Somebody may have rolled staging back meanwhile.
  if (environment === 'production') await requireTested(build);
  return {
    id: options.run,
    target,
    build,
    old: start.version.id,
    startId: start.id,
    hasDeployed: false,
    failedSettings: [],
  };
}

async function rollOut(rollout: Rollout, options: Options) {
  const { environment, worker } = rollout.target;
  const test = environment === 'staging' ? smokeTest : testReads;
  try {
    const version = await upload(rollout, options);
    const store = storeOf(rollout.target, version);
    // The only way to a version that has no share of the requests yet.
    const byOverride = { ...store, override: `${worker}="${version}"` };
    await applyMigrations(rollout);
    await deploy(rollout, version, 0);
    await test(byOverride);
    if (environment === 'production') await hold(rollout, byOverride, options);
    await deploy(rollout, version, 100);
    await test(store);
    await deployTriggers(rollout);
    await test(store);
    await requireUnchanged(rollout);
    console.log(environment, 'serves', version, 'to all.');
  } catch (cause) {
    const problem = signal.aborted ? 'interrupted' : safeMessage(cause);
    const end = rollout.hasDeployed ? await goBack(rollout, problem) : 'no version was deployed';
    throw new Error(`${problem}; ${end}`, { cause });
  }
  // The version stays, but the exit code must not be that of a success.
  if (rollout.failedSettings.length > 0) throw new Error(rollout.failedSettings.join('; '));
}

async function rollback(version: string, { env, force, yes }: BackOptions) {
  const target = readTarget(env);
  if (!force) await requireSameBehaviour(target, version);
  await confirm(`serve ${version} to all`, env, yes, signal);
  const problem = await failureOf(serveAndTest(target, version));
  if (problem) console.error(`error: ${problem}`);
  // Another release, or a call that failed, may take effect later.
  await pause(SETTLE_MS);
  const served = await readServed(target);
  const state = `${env} serves ${served}`;
  if (problem || served !== `${version}@100%`)
    throw new Error(`${state}, not ${version}@100% with a passed test`);
  console.log(state, apiKey ? 'and is tested.' : 'and is not tested: SMOKE_API_KEY is not set.');
}

async function serveAndTest(target: Target, version: string) {
  await serve(target, version, 'rollback');
  if (apiKey) await testReads(storeOf(target, version));
}

async function readServed(target: Target): Promise<string> {
  try {
    return sharesOf((await readNewest(target)).newest);
  } catch (cause) {
    throw new Error(`it is unknown what is served: ${safeMessage(cause)}`, { cause });
  }
}

async function undo(id: string, { env, yes }: BackOptions) {
  const target = readTarget(env);
  const { deployments, foreign } = await readNewest(target, id);
  if (!deployments.some((each) => isOf(id, each))) {
    return console.log('None of the ten newest deployments is of this run: nothing to undo.');
  }
  const old = requireOneVersion(foreign);
  console.log(deployments.map(describe).join('\n'));
  await confirm(`go back from the run ${id}`, env, yes, signal);
  console.log(await goBack({ id, target, old }, `the run ${id} is not undone`));
}

// ----------------------------------------------------------------------------- what is released

/** Builds the commit that is checked out. Both environments get the same script: `npm run bundle` compares them. */
async function buildHead(folder: string): Promise<Build> {
  const commit = await readHead();
  await runWrangler(['deploy', '--dry-run', '--env', 'staging', '--outdir', folder]);
  const script = join(folder, 'index.js');
  return { commit, script, sha256: hash('sha256', await readFile(script)) };
}

/** @throws Error unless the files are those of the commit. A file that git ignores would be released, too. */
async function readHead(): Promise<string> {
  const changed = await git('status', '--porcelain', '--untracked-files=all');
  const folders = ['src', 'public', 'migrations'];
  const ignored = await git('ls-files', '--others', '--ignored', '--exclude-standard', ...folders);
  if (changed || ignored)
    throw new Error(`commit or remove first: ${safeMessage(changed + ignored)}`);
  return git('rev-parse', 'HEAD');
}

/** Staging serves a version to all only after its test. */
async function requireTested({ commit, sha256 }: Build) {
  const { version } = await readStart(readTarget('staging'));
  const tested = version.annotations;
  if (tested?.['workers/tag'] !== commit)
    throw new Error('staging does not serve HEAD. Run: npm run release -- staging');
  if (tested['workers/message'] !== sha256)
    throw new Error("the build differs from staging's. Run npm ci, and release to staging again");
}

/** Says when a release goes back in history. */
async function printChange({ annotations }: Version, { commit }: Build) {
  const old = annotations?.['workers/tag'];
  console.log('The served commit is', old ?? 'unknown', 'and the release is', commit);
  if (!old) return;
  try {
    await git('merge-base', '--is-ancestor', old, commit);
  } catch (error) {
    // With another code, the history here lacks the served commit.
    if (Object(error).code === 1) console.log('It goes BACK in history.');
  }
}

async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: PROJECT_ROOT })).stdout.trim();
}

// ------------------------------------------------------------------------- what must be protected

/** The newest deployment and its version. @throws Error if two versions share the requests. */
async function readStart(target: Target): Promise<{ id: string; version: Version }> {
  const { newest } = await readNewest(target);
  return { id: newest.id, version: await readVersion(target, requireOneVersion(newest)) };
}

function requireOneVersion(deployment: Deployment): string {
  const version = onlyVersionOf(deployment);
  if (version) return version;
  const page = '"Unfinished releases" in docs/operations.md';
  throw new Error(`a release is unfinished: ${describe(deployment)}. ${page}`);
}

/** @throws Error if wrangler would take another host over from other workers: it does so without asking. */
function requireOwnHost({ config }: Target) {
  hostOf(config);
}

/** The test on staging writes, and must not reach the data of production. */
function requireSeparateStores({ environment, bindings }: Target) {
  const other = readTarget(environment === 'staging' ? 'production' : 'staging');
  const others = Object.values(other.bindings);
  const shared = Object.entries(bindings).find(([, value]) => others.includes(value));
  if (shared) throw new Error(`wrangler.toml: ${shared.join(' = ')} is of both environments`);
}

/** Two versions that share the requests must have one store. */
function requireSameStore({ bindings }: Target, version: Version) {
  for (const [name, value] of Object.entries(bindings)) {
    const bound = version.resources.bindings.find((each) => each.name === name);
    if (Object.values({ ...bound }).includes(value)) continue;
    const setting = `${name} = ${value} in wrangler.toml`;
    throw new Error(`${setting} is not in ${version.id}: "Move a store" in docs/operations.md`);
  }
}

/** A version inherits the secrets of the newest one, which need not be the one that is served. */
async function requireSameWrites(target: Target, old: string, next: string, mayResume = false) {
  const before = await stopsWrites(target, old);
  const after = await stopsWrites(target, next);
  if (before === after || (before && mayResume)) return;
  const change = after ? 'stop' : 'resume';
  throw new Error(`${next} would ${change} writes: "Stop writes" in docs/operations.md`);
}

async function stopsWrites(target: Target, version: string): Promise<boolean> {
  const { resources } = await readVersion(target, version);
  return resources.bindings.some(({ name }) => name === 'WRITES_STOPPED');
}

/** A rollback is to change the code alone. */
async function requireSameBehaviour(target: Target, version: string) {
  try {
    requireSameStore(target, await readVersion(target, version));
    const { newest } = await readNewest(target);
    for (const served of newest.versions)
      await requireSameWrites(target, served.version_id, version);
  } catch (cause) {
    throw new Error(`${safeMessage(cause)}. To roll back without this check: --force`, { cause });
  }
}

/** The files that wrangler reads are those of the build, and no other operator has deployed. */
async function requireUnchanged(rollout: Rollout) {
  if ((await readHead()) !== rollout.build.commit)
    throw new Error('another commit was checked out');
  await requireNoOtherOperator(rollout);
}

/** Returns the newest deployment. @throws Error if it is interrupted, too. */
async function requireNoOtherOperator({ id, target, startId }: Rollout): Promise<Deployment> {
  signal.throwIfAborted();
  const { newest, foreign } = await readNewest(target, id);
  if (foreign.id === startId) return newest;
  throw new Error(`another operator intervened: ${describe(foreign)}`);
}

// ------------------------------------------------------------------------------------- the steps

/** Returns the id of the new version. */
async function upload(rollout: Rollout, { resumeWrites }: Options): Promise<string> {
  const { target, build, old } = rollout;
  await requireUnchanged(rollout);
  // --strict refuses a worker that was changed in the dashboard. Without an id, wrangler would create a database.
  const options = ['--no-bundle', '--no-x-provision', '--strict'];
  const notes = ['--tag', build.commit, '--message', build.sha256];
  const command = ['versions', 'upload', build.script, ...options, ...notes];
  const [, version] = / Version ID: (\S+)/.exec(await wrangler(target, ...command)) ?? [];
  if (!version) throw new Error('wrangler names no version');
  await requireSameWrites(target, old, version, resumeWrites);
  return version;
}

async function applyMigrations(rollout: Rollout) {
  const { target } = rollout;
  await requireUnchanged(rollout);
  const { bookmark } = await read(target, 'd1', 'time-travel', 'info', 'DB');
  console.log('Applying migrations. To restore what was before: --bookmark', bookmark);
  requireMigrated(await wrangler(target, 'd1', 'migrations', 'apply', 'DB', '--remote'));
}

/** Gives a version a share of the requests, in percent, and the rest to the old one. */
async function deploy(rollout: Rollout, version: string, share: number) {
  const { id, target, old } = rollout;
  await requireUnchanged(rollout);
  console.log('Deploying', version, 'at', share, '%');
  const rest = share === 100 ? [] : [`${old}@${100 - share}%`];
  const shares = [`${version}@${share}%`, ...rest];
  rollout.hasDeployed = true;
  const command = ['versions', 'deploy', ...shares, '--yes', '--message', id];
  const failure = await failureOf(wrangler(target, ...command));
  const served = sharesOf(await requireNoOtherOperator(rollout));
  if (served !== shares.toSorted().join(' ')) throw new Error(failure || `it serves ${served}`);
  // The shares are as asked for, but the log settings, which wrangler sends with each deployment, may have failed.
  if (failure && share === 100) noteFailure(rollout, failure, `versions deploy ${version}@100%`);
}

/** Gives a version 10 %, and tests it every ten seconds. Its first 500, whoever gets it, ends the release. */
async function hold(rollout: Rollout, store: VersionStore, options: Options) {
  const { environment, version } = store;
  const isWatched = options.hold > 0 && !options.unwatched;
  const log = isWatched ? await watchErrors(environment, version, signal) : undefined;
  try {
    await deploy(rollout, version, 10);
    console.log('Holding 10 %. To compare the versions: docs/alerts/share-of-5xx.json');
    await testReads(store);
    for (let left = options.hold; left > 0; left -= 10) {
      await pause(Math.min(left, 10) * 1000, undefined, { signal });
      await testReads(store);
      log?.requireNone();
    }
  } finally {
    log?.end();
  }
}

/** Sets the routes and crons. */
async function deployTriggers(rollout: Rollout) {
  await requireUnchanged(rollout);
  const failure = await failureOf(wrangler(rollout.target, 'triggers', 'deploy'));
  if (failure) noteFailure(rollout, failure, 'triggers deploy');
}

/** Waits for a call, and returns its error message if it fails: it may have taken effect all the same. */
async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return '';
  } catch (error) {
    return safeMessage(error);
  }
}

/** Notes settings that failed, with which the release goes on. If it goes back, nobody must repeat them. */
function noteFailure({ target, failedSettings }: Rollout, failure: string, command: string) {
  failedSettings.push(`${failure}. Run: npx wrangler ${command} --env ${target.environment}`);
}

// ----------------------------------------------------------------------------------- the way back

/**
 * Ends what a run has deployed, in two tries. Returns what is served.
 *
 * @throws Error with the command to run when that is not known, or when two releases run at once.
 */
async function goBack({ id, target, old }: Run, problem: string): Promise<string> {
  console.log('Going back …');
  let good = old;
  for (const delayMs of [0, SETTLE_MS]) {
    await pause(delayMs);
    try {
      const { newest, foreign } = await readNewest(target, id);
      good = onlyVersionOf(foreign) ?? good;
      if (newest !== foreign) await serve(target, requireOneVersion(foreign), id);
      return `${target.environment} serves ${await readRestored(target, id)}`;
    } catch (error) {
      console.error(`error: ${safeMessage(error)}`);
    }
  }
  const command = `npx wrangler rollback ${good} --env ${target.environment}`;
  throw new Error(`${problem}; could not confirm that it went back. Run: ${command}`);
}

/** The shares that are served, read later, because a call that failed may take effect late. */
async function readRestored(target: Target, run: string): Promise<string> {
  await pause(SETTLE_MS);
  const { newest, foreign } = await readNewest(target, run);
  const served = sharesOf(newest);
  if (served === sharesOf(foreign)) return served;
  throw new Error(`${served} is served`);
}

// ------------------------------------------------------------------------------------------ parts

function storeOf({ environment, baseUrl }: Target, version: string): VersionStore {
  return { environment, baseUrl, version, apiKey, signal };
}

/** Without a message, a run does not recognise its deployments. */
function parseRunId(text: string): string {
  if (text) return text;
  throw new InvalidArgumentError('It must not be empty.');
}

/** Without an id, wrangler would serve the version before. */
function parseVersionId(text: string): string {
  if (z.uuid().safeParse(text).success) return text;
  throw new InvalidArgumentError('It must be the id of a version.');
}
