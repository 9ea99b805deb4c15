/** The commands of `npm run release`: read the state, check it, ask, act, read again. */
import { setTimeout as pause } from 'node:timers/promises';
import { confirm, oneLine } from '../command-line.ts';
import { type Build, git, withBuild } from './build.ts';
import * as cloudflare from './cloudflare.ts';
import { applyMigrations, checkMigrations } from './migrations.ts';
import { differences, onlyVersion, PASSED, startRun, testResult } from './rollout.ts';
import * as smoke from './smoke.ts';

/** The options of all commands: each has those that index.ts gives it. `hold` is in seconds. */
export type Options = Record<'yes' | 'force', true | undefined> & {
  env: cloudflare.Target['environment'];
  commit?: string;
  hold: number;
  shares: number[];
  allow?: string[];
  signal: AbortSignal;
};

/** Sets up an environment that has no worker: migrations, deployment, routes, smoke test. */
export async function first({ env, yes, signal }: Options): Promise<void> {
  const commit = env === 'staging' ? await committedHead() : (await readStaged()).commit;
  await withBuild(commit, async (build) => {
    const target = cloudflare.readTarget(env, build.folder);
    const [exists] = await cloudflare.readDeployments(target);
    if (exists) throw new Error(`a worker named ${target.worker} exists: nothing is changed`);
    // Wrangler takes a host name over from another worker without asking.
    const answer = await fetch(target.baseUrl, { redirect: 'manual' }).catch(() => undefined);
    if (answer) throw new Error(`something answers at ${target.baseUrl}: nothing is changed`);
    await confirm(`set up ${env} with commit ${await describe(commit)}`, env, yes);
    await applyMigrations(target, build);
    const version = await cloudflare.upload(target, build, ['deploy']);
    // A new address needs a DNS record and a certificate first.
    await smoke.smokeTest({ ...storeOf(target, signal), version }, 600);
    // Notes that it passed.
    const deployments = await cloudflare.readDeployments(target);
    await startRun(target, deployments, version).deploy(version, 100);
    console.log(`${env} serves ${version} at ${target.baseUrl}.`);
  });
}

/** Releases the commit that is checked out to staging. */
export async function staging(options: Options): Promise<void> {
  const release = { ...options, env: 'staging' as const, shares: [] };
  await withBuild(await committedHead(), (build) => releaseBuild(build, release));
}

/** Releases to production what staging serves, byte for byte. */
export async function promote(options: Options): Promise<void> {
  const { commit, digest } = await readStaged();
  if (options.commit && options.commit !== commit) throw new Error(`staging now serves ${commit}`);
  await withBuild(commit, async (build) => {
    const fix = `check out ${commit}, run npm ci, and repeat the command`;
    if (build.digest !== digest) throw new Error(`the build differs from staging's: ${fix}`);
    await releaseBuild(build, { ...options, env: 'production' });
  });
}

/** What staging serves. @throws Error unless it passed its tests there. */
async function readStaged() {
  const { CLOUDFLARE_STAGING_API_TOKEN: token } = process.env;
  const env = token ? { CLOUDFLARE_API_TOKEN: token } : {};
  const target = cloudflare.readTarget('staging');
  const deployments = await cloudflare.readDeployments(target, env);
  const version = onlyVersion('staging', deployments[0]);
  const { release } = await cloudflare.readVersion(target, version, env);
  const result = testResult(version, deployments);
  if (release && result === PASSED) return release;
  throw new Error(`staging serves ${version}, which ${result}: npm run release -- staging`);
}

async function releaseBuild(build: Build, { env, yes, allow = [], ...options }: Options) {
  const target = cloudflare.readTarget(env, build.folder);
  const store = storeOf(target, options.signal);
  const deployments = await cloudflare.readDeployments(target);
  const old = await cloudflare.readVersion(target, onlyVersion(env, deployments[0]));
  // A rollback of a moment ago may still spread.
  const failure = await smoke.waitForVersion({ ...store, version: old.id }, 30).catch(oneLine);
  const differing = differences({ ...old, worker: failure ?? target.worker }, target, allow);
  const allowing = 'nothing is changed. If it is wanted, add --allow and the name before the colon';
  if (differing.length > 0) throw new Error(`${differing.join('; ')}: ${allowing}`);
  await smoke.checkKey(store);
  const from = old.release?.commit;
  const pending = await checkMigrations(target, build, from);
  const range = ['--is-ancestor', from ?? build.commit, build.commit];
  const isAhead = await git(['merge-base', ...range]).catch(() => 'no');
  const back = isAhead === 'no' ? ' It goes BACK in history: it lacks what is served.' : '';
  const next = await describe(build.commit);
  console.log(`${env} serves ${await describe(from)}. The release is ${next}.${back}`);
  await confirm(`release ${next}, with the migrations [${pending}]`, env, yes);

  const run = startRun(target, deployments, old.id);
  let version = '';
  try {
    if (pending.length > 0) await applyMigrations(target, build);
    version = await cloudflare.upload(target, build, ['versions', 'upload']);
    await run.deploy(version, 0);
    await smoke.smokeTest({ ...store, version, worker: target.worker });
    for (const share of options.shares) {
      await run.deploy(version, share);
      console.log(`Holding for ${options.hold} s. Compare ${version} in Observability:`);
      console.log('status >= 500, count by $workers.scriptVersion.id');
      for (const end = Date.now() + options.hold * 1000; ; await pause(10_000, '', options)) {
        await smoke.smokeTest(store);
        if (Date.now() >= end) break;
      }
      if (process.stdin.isTTY) await confirm('give it more', env, yes);
    }
    await run.deploy(version, 100);
    await target.withSettings(['triggers', 'deploy']);
    await smoke.smokeTest({ ...store, version });
  } catch (cause) {
    const failure = options.signal.aborted ? 'interrupted' : oneLine(cause);
    throw new Error(`${failure}${await run.goBack(version, cause)}`, { cause });
  }
  console.log(`${env} serves ${version} to all.`);
}

/** Serves a version to all again, by its id or the first characters of it, and tests it. */
export async function rollback({ env, yes, force, signal }: Options, wanted: string) {
  const target = cloudflare.readTarget(env);
  const deployments = await cloudflare.readDeployments(target);
  const [newest] = deployments;
  const now = newest ? cloudflare.sharesOf(newest) : 'nothing';
  const isUnfinished = wanted === 'unfinished';
  if (isUnfinished && newest?.versions.length === 1) return console.log(`${env} serves ${now}`);
  const prefix = isUnfinished ? (newest?.note?.old ?? '') : wanted;
  const ids = deployments.flatMap(({ versions }) => versions.map((each) => each.version_id));
  const [version = prefix, ...others] = new Set(ids.filter((id) => id.startsWith(prefix)));
  const isId = prefix.length >= 8 && others.length === 0 && version.length === 36;
  if (!isId) throw new Error(`${wanted} must be an id, or 8 or more characters of a recent one`);
  const result = testResult(version, deployments);
  const isForced = force || isUnfinished || result === PASSED;
  if (!isForced) throw new Error(`${version} ${result}: nothing is changed. --force serves it`);
  await confirm(`serve ${version}, which ${result}, in place of ${now}`, env, yes);
  await startRun(target, deployments, version).rollBack();
  console.log(`${env} serves ${version} to all. Data, routes, crons and settings are as before.`);
  if (!process.env.SMOKE_API_KEY) return console.log('Not tested: SMOKE_API_KEY is not set.');
  await smoke.smokeTest({ ...storeOf(target, signal), version });
}

/** Tests a store as a client. */
export async function smokeTest({ env, signal }: Options): Promise<void> {
  await smoke.smokeTest(storeOf(cloudflare.readTarget(env), signal));
  console.log('The smoke test passed.');
}

function storeOf({ environment, baseUrl }: cloudflare.Target, signal: AbortSignal): smoke.Store {
  return { environment, baseUrl, apiKey: process.env.SMOKE_API_KEY ?? '', signal };
}

/** The commit that is checked out. @throws Error when something in the work tree is not committed. */
async function committedHead(): Promise<string> {
  const status = await git(['status', '--porcelain', '--untracked-files=all']);
  if (status) throw new Error(`commit or remove these files first: ${oneLine(status)}`);
  return git(['rev-parse', 'HEAD']);
}

/** Such as `1b4e28ba "List pets by status"`. */
async function describe(commit = 'a version made by hand'): Promise<string> {
  return git(['log', '-1', '--abbrev=8', '--format=%h "%s"', commit]).catch(() => commit);
}
