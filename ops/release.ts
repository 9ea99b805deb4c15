/**
 * `npm run release`: HEAD to staging, the same commit and bytes to production, and back. docs/operations.md explains it.
 * Cloudflare's list of deployments is the only state. A run knows its own deployments by its id in their messages.
 */
import { execFile } from 'node:child_process';
import { hash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Option } from 'commander';
import { unstable_readConfig as readConfig } from 'wrangler';
import { confirm, createProgram, integerFrom, oneLine, onStop, run } from './command-line.ts';
import { hostOf } from './host.ts';
import { smokeTest, testReads } from './smoke.ts';
import { PROJECT_ROOT, runIn, runWrangler } from './wrangler.ts';

type Environment = 'staging' | 'production';
type Target = ReturnType<typeof readTarget>;
type Build = Awaited<ReturnType<typeof buildHead>>;
type Version = Awaited<ReturnType<typeof readVersion>>;
type Annotated = { annotations?: Partial<Record<'workers/message' | 'workers/tag', string>> };
type Deployment = Annotated & {
  id: string;
  created_on: string;
  author_email?: string;
  versions: { version_id: string; percentage: number }[];
};

type Rollout = ReturnType<typeof startRollout>;
type Options = { env: Environment; run: string; hold: number; yes?: true; force?: true };

/** A call that failed may take effect up to this much later. */
const SETTLE_MS = 15_000;

const apiKey = process.env.SMOKE_API_KEY ?? '';
const stop = new AbortController();
const { signal } = stop;
onStop(() => stop.abort());

const yes = ['--yes', 'do not ask'] as const;
const env = new Option('--env <name>').choices(['staging', 'production']).makeOptionMandatory();
const runOption = new Option('--run <id>', 'marks its deployments, for undo').default(
  randomUUID(),
  'random',
);

export const program = createProgram('npm run release --', 'Releases the store, and goes back.');
program
  .command('staging')
  .description('Releases HEAD to staging.')
  .addOption(runOption)
  .action((options: Options) => release('staging', options));
program
  .command('promote')
  .description('Releases HEAD to production, if staging serves it.')
  .option('--hold <seconds>', 'how long it holds 10 %', integerFrom(0, 86_400), 300)
  .addOption(runOption)
  .option(...yes)
  .action((options: Options) => release('production', options));
program
  .command('rollback <version>')
  .description('Serves a version to all. Its id: npx wrangler versions list --env <name>')
  .addOption(env)
  .option('--force', 'do not compare its database, KV namespace and address')
  .option(...yes)
  .action(rollback);
program
  .command('undo <run>')
  .description('Goes back from a run that was killed, unless somebody has deployed since.')
  .addOption(env)
  .option(...yes)
  .action(undo);
if (import.meta.main) await run(program);

async function release(environment: Environment, options: Options): Promise<void> {
  const target = readTarget(environment);
  const build = await buildHead();
  if (environment === 'production') await refuseUntested(build);
  const start = await readStart(target);
  const old = await readVersion(target, start.version);
  refuseOtherResources(target, old);
  const store = { ...target, apiKey, signal };
  await testReads({ ...store, version: old.id });
  await printChange(old, build.commit);
  await confirm(`release commit ${build.commit}`, environment, options.yes, signal);

  const test = environment === 'staging' ? smokeTest : testReads;
  const rollout = startRollout(target, options.run, start.id, old.id, build.commit);
  try {
    const version = await upload(rollout, build);
    await refuseOtherWrites(target, version, old);
    const next = { ...store, version };
    const overriding = { ...next, override: `${target.worker}="${version}"` };
    await applyMigrations(rollout);
    await deploy(rollout, version, 0);
    await test(overriding);
    if (environment === 'production') {
      await deploy(rollout, version, 10);
      await hold(options.hold, () => test(overriding));
    }
    await deploy(rollout, version, 100);
    await test(next);
    await deployTriggers(rollout);
    await test(next);
    await refuseOthers(rollout);
    console.log(`${environment} serves ${version} to all.`);
  } catch (cause) {
    const problem = signal.aborted ? 'interrupted' : oneLine(cause);
    throw new Error(await goBack(rollout, `${problem}; `), { cause });
  }
  if (rollout.failedSettings.length > 0) throw new Error(rollout.failedSettings.join('; '));
}

async function rollback(version: string, { env, yes, force }: Options): Promise<void> {
  // Without a version, wrangler would serve the one before.
  if (!version) throw new Error('name the version to serve');
  const target = readTarget(env);
  if (!force) refuseOtherResources(target, await readVersion(target, version));
  await confirm(`serve ${version} to all`, env, yes, signal);
  const store = { ...target, apiKey, version, signal };
  const served = target.rollBack(version, 'rollback');
  const problem = await failureOf(apiKey ? served.then(() => testReads(store)) : served);
  // Another release, or a call that failed, may take effect later.
  await pause(SETTLE_MS);
  let newest: Deployment | undefined;
  try {
    [newest] = await readDeployments(target);
  } catch (error) {
    throw new Error(`${env} serves an unknown version. ${problem || oneLine(error)}`);
  }
  const shares = sharesOf(newest);
  const state = `${env} serves ${shares}`;
  if (problem) throw new Error(`${state}. ${problem}`);
  if (shares !== `${version}@100%`) throw new Error(`${state}, and not ${version} alone`);
  console.log(state, apiKey ? 'and is tested.' : 'and is not tested: SMOKE_API_KEY is not set.');
}

async function undo(run: string, { env, yes }: Options): Promise<void> {
  const rollout = startRollout(readTarget(env), run, '', 'VERSION');
  const deployments = await readDeployments(rollout.target);
  rollout.hasDeployed = deployments.some((each) => isOwn(rollout, each));
  if (!rollout.hasDeployed) {
    return console.log('None of the ten newest deployments is of this run: nothing to undo.');
  }
  console.log(deployments.map(describe).join('\n'));
  await confirm(`go back from the run ${run}`, env, yes, signal);
  console.log(await goBack(rollout, ''));
}

// ----------------------------------------------------------------------------- what is released

/** Builds the commit that is checked out. Both environments get the same script: `npm run bundle` compares them. */
async function buildHead() {
  const commit = await readHead();
  // A folder of this process: another release in this checkout must not replace it.
  const folder = join(PROJECT_ROOT, 'dist', randomUUID());
  await runWrangler(['deploy', '--dry-run', '--env', 'staging', '--outdir', folder]);
  const script = join(folder, 'index.js');
  return { commit, script, digest: hash('sha256', await readFile(script)) };
}

/** @throws Error unless the files are those of the commit. A file that git ignores would be released, too. */
async function readHead(): Promise<string> {
  const changed = await git('status', '--porcelain', '--untracked-files=all');
  const folders = ['src', 'public', 'migrations'];
  const ignored = await git('ls-files', '--others', '--ignored', '--exclude-standard', ...folders);
  if (changed || ignored) throw new Error(`commit or remove first: ${oneLine(changed + ignored)}`);
  return git('rev-parse', 'HEAD');
}

/** Staging serves a version to all only after its test. */
async function refuseUntested({ commit, digest }: Build): Promise<void> {
  const staging = readTarget('staging');
  const served = await readVersion(staging, (await readStart(staging)).version);
  if (served.commit !== commit)
    throw new Error('staging does not serve HEAD. Run: npm run release -- staging');
  if (served.digest !== digest)
    throw new Error("the build differs from staging's. Run npm ci, and release to staging again");
}

/** Says when a release goes back in history. */
async function printChange({ commit: old = 'unknown' }: Version, next: string): Promise<void> {
  console.log('The served commit is', old, 'and the release is', next);
  const failure = await failureOf(git('merge-base', '--is-ancestor', old, next));
  if (failure) console.log('It goes BACK in history, or the history here lacks the served commit.');
}

async function git(...args: string[]): Promise<string> {
  return (await promisify(execFile)('git', args, { cwd: PROJECT_ROOT })).stdout.trim();
}

// ---------------------------------------------------------------------- where, and what is there

/** An environment, as wrangler.toml describes it. */
function readTarget(environment: Environment) {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), env: environment });
  const { name: worker = '', vars, d1_databases, kv_namespaces } = config;
  const baseUrl = String(vars.BASE_URL);
  /** Ctrl-C does not end it: a call that is cut off may still take effect. The limit is for a hang. */
  const wrangler = (...args: string[]) =>
    runIn(environment, args, { detached: true, timeout: 300_000 });
  /** Serves a version to all. Changes no settings. */
  const rollBack = (version: string, message: string) =>
    wrangler('rollback', version, '--yes', '--message', message);
  const databaseId = d1_databases[0]?.database_id;
  const keysId = kv_namespaces[0]?.id;
  const bindings = { DB: databaseId, API_KEYS: keysId, BASE_URL: baseUrl };
  return { environment, worker, config, baseUrl, bindings, wrangler, rollBack };
}

/** Refuses a version with another database, KV namespace or address: a store is moved by hand. */
function refuseOtherResources({ environment, config, bindings }: Target, version: Version): void {
  // Without it, the routes of wrangler.toml would be taken over from other workers.
  hostOf(config);
  const other = readTarget(environment === 'staging' ? 'production' : 'staging');
  const others: unknown[] = Object.values(other.bindings);
  for (const [name, value] of Object.entries(bindings)) {
    const setting = `${name} = ${value} in wrangler.toml`;
    if (others.includes(value)) throw new Error(`${setting} is of both environments`);
    if (!version.bindings.includes(`"${value}"`))
      throw new Error(`${setting} is not in ${version.id}: "Move a store" in docs/operations.md`);
  }
}

/** A version: what it was built from, and its bindings as JSON. */
async function readVersion({ wrangler }: Target, id: string) {
  const output = await wrangler('versions', 'view', id, '--json');
  const { annotations, resources }: Annotated & { resources: unknown } = JSON.parse(output);
  return {
    id,
    commit: annotations?.['workers/tag'],
    digest: annotations?.['workers/message'],
    bindings: JSON.stringify(resources),
  };
}

/** The newest deployment and its version. @throws Error unless it serves exactly one. */
async function readStart(target: Target) {
  const deployments = await readDeployments(target);
  const [newest] = deployments;
  const [only, ...others] = newest?.versions ?? [];
  if (newest && only && others.length === 0) return { id: newest.id, version: only.version_id };
  console.error(deployments.map(describe).join('\n'));
  const end = 'a release is unfinished. To end it: npm run release -- rollback <version> --env';
  throw new Error(`${end} ${target.environment}`);
}

/** The ten newest deployments, the newest first. */
async function readDeployments({ wrangler }: Target): Promise<Deployment[]> {
  return JSON.parse(await wrangler('deployments', 'list', '--json')).reverse();
}

/** As wrangler accepts them, such as `1b4e28ba-…@10% 6fa459ea-…@90%`. */
function sharesOf(deployment?: Pick<Deployment, 'versions'>): string {
  const shares = deployment?.versions.map((each) => `${each.version_id}@${each.percentage}%`);
  return shares?.sort().join(' ') ?? 'nothing';
}

function describe({ created_on, author_email = 'somebody', ...deployment }: Deployment): string {
  return `${created_on} ${author_email} deployed ${sharesOf(deployment)}`;
}

// ------------------------------------------------------------------------------------- the steps

async function upload(rollout: Rollout, build: Build): Promise<string> {
  await refuseChanges(rollout);
  // --strict refuses a worker that was changed in the dashboard. Without an id, wrangler would create a database.
  const options = ['--no-bundle', '--no-x-provision', '--strict'];
  const notes = ['--tag', build.commit, '--message', build.digest];
  const command = ['versions', 'upload', build.script, ...options, ...notes];
  const output = await rollout.target.wrangler(...command);
  const [, version] = / Version ID: (\S+)/.exec(output) ?? [];
  if (!version) throw new Error('wrangler names no version');
  return version;
}

/** A version inherits the secrets of the newest one, which need not be the one that is served. */
async function refuseOtherWrites(target: Target, version: string, old: Version): Promise<void> {
  const { bindings } = await readVersion(target, version);
  if (bindings.includes('WRITES_STOPPED') !== old.bindings.includes('WRITES_STOPPED'))
    throw new Error('the release would stop or resume writes: "Stop writes" in docs/operations.md');
}

/** Rejects the next step after another checkout, whose files wrangler would read, or another operator's deployment. */
async function refuseChanges(rollout: Rollout): Promise<void> {
  if ((await readHead()) !== rollout.commit) throw new Error('another commit was checked out');
  await refuseOthers(rollout);
}

async function applyMigrations(rollout: Rollout): Promise<void> {
  await refuseChanges(rollout);
  console.log('Applying migrations. To restore what was before:', new Date().toISOString());
  await rollout.target.wrangler('d1', 'migrations', 'apply', 'DB', '--remote');
}

/** Gives a version a share of the requests, in percent, and the rest to the old one. */
async function deploy(rollout: Rollout, version: string, share: number): Promise<void> {
  const { target, run, old } = rollout;
  await refuseChanges(rollout);
  console.log('Deploying', version, 'at', share, '%');
  const rest = share === 100 ? [] : [`${old}@${100 - share}%`];
  const shares = [`${version}@${share}%`, ...rest];
  rollout.hasDeployed = true;
  const command = ['versions', 'deploy', ...shares, '--yes', '--message', run];
  const failure = await failureOf(target.wrangler(...command));
  const newest = await refuseOthers(rollout);
  if (failure && sharesOf(newest) !== shares.toSorted().join(' ')) throw new Error(failure);
  if (!isOwn(rollout, newest)) throw new Error('its deployment is missing');
  // The shares are as asked for, but the log settings, which wrangler sends with each deployment, may have failed.
  if (failure && share === 100) failSettings(rollout, failure, `versions deploy ${version}@100%`);
}

/** Sets the routes and crons. */
async function deployTriggers(rollout: Rollout): Promise<void> {
  await refuseChanges(rollout);
  const failure = await failureOf(rollout.target.wrangler('triggers', 'deploy'));
  if (failure) failSettings(rollout, failure, 'triggers deploy');
}

/** Waits for a call, and returns its error message if it fails: it may have taken effect all the same. */
async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return '';
  } catch (error) {
    return oneLine(error);
  }
}

/** Remembers settings that failed, with which the release goes on. If it goes back, nobody must repeat them. */
function failSettings({ target, failedSettings }: Rollout, failure: string, command: string): void {
  failedSettings.push(`${failure}. Run: npx wrangler ${command} --env ${target.environment}`);
}

/** Tests at once, then every ten seconds until the time is over. */
async function hold(seconds: number, test: () => Promise<void>): Promise<void> {
  console.log('Holding 10 %. To compare the versions: docs/alerts/share-of-5xx.json');
  await test();
  for (let left = seconds; left > 0; left -= 10) {
    await pause(Math.min(left, 10) * 1000, undefined, { signal });
    await test();
  }
}

// ------------------------------------------------------------------- other operators, the way back

/** What a run changes. `start`: the id of the deployment before it. `old`: the version to go back to. */
function startRollout(target: Target, run: string, start: string, old: string, commit = '') {
  /** Each with the command to repeat. */
  const failedSettings: string[] = [];
  return { target, run, start, old, commit, hasDeployed: false, failedSettings };
}

function isOwn({ run }: Rollout, { annotations }: Deployment): boolean {
  return annotations?.['workers/message'] === run;
}

/** The newest deployment, and the newest one that is not of this run. */
async function readNewest(rollout: Rollout) {
  const deployments = await readDeployments(rollout.target);
  const [newest] = deployments;
  const foreign = deployments.find((each) => !isOwn(rollout, each));
  if (newest && foreign) return { newest, foreign };
  throw new Error('the list of deployments is incomplete');
}

/** The newest deployment. @throws Error if it is interrupted, or another operator has deployed since the start. */
async function refuseOthers(rollout: Rollout): Promise<Deployment> {
  signal.throwIfAborted();
  const { newest, foreign } = await readNewest(rollout);
  if (foreign.id === rollout.start) return newest;
  throw new Error(`another operator intervened: ${describe(foreign)}`);
}

/**
 * Ends what this run has deployed, in two tries. Returns the reason, and what is served.
 *
 * @throws Error with the command to run when it is not known to be served, or when two releases run at once.
 */
async function goBack(rollout: Rollout, reason: string): Promise<string> {
  if (!rollout.hasDeployed) return `${reason}no version was deployed`;
  console.log('Going back …');
  const { environment } = rollout.target;
  for (const delayMs of [0, SETTLE_MS]) {
    await pause(delayMs);
    try {
      return `${reason}${environment} serves ${await putBack(rollout)}`;
    } catch (error) {
      console.error(`error: ${oneLine(error)}`);
    }
  }
  const command = 'could not confirm that it went back. Run: npx wrangler rollback';
  throw new Error(`${reason}${command} ${rollout.old} --env ${environment}`);
}

/**
 * Serves the newest foreign deployment: the start, or what another operator has deployed since, who wins. Returns its
 * shares. Reads the list again later, because a call that failed may take effect late.
 *
 * @throws Error if another deployment is served, or the one to serve again is of two versions.
 */
async function putBack(rollout: Rollout): Promise<string> {
  const { newest, foreign } = await readNewest(rollout);
  const [version, ...others] = foreign.versions.map((each) => each.version_id);
  const isOne = version && others.length === 0;
  if (isOne) rollout.old = version;
  if (newest !== foreign) {
    if (!isOne) throw new Error(`${describe(foreign)} at the same time`);
    await rollout.target.rollBack(version, rollout.run);
  }
  await pause(SETTLE_MS);
  const later = await readNewest(rollout);
  const served = sharesOf(later.newest);
  if (served === sharesOf(later.foreign)) return served;
  throw new Error(`${served} is served`);
}
