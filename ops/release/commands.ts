/** The commands of `npm run release`: read the state, check it, ask, act, read again. */
import { setTimeout as pause } from 'node:timers/promises';
import { confirm, oneLine } from '../command-line.ts';
import { type Build, committedHead, describeCommit, git, withBuild } from './build.ts';
import * as checks from './checks.ts';
import * as cloudflare from './cloudflare.ts';
import { applyMigrations, checkMigrations } from './migrations.ts';
import { startRun } from './rollout.ts';
import * as smoke from './smoke.ts';

/** The options of all commands: each has those that index.ts gives it. */
export type Options = {
  env: cloudflare.EnvironmentName;
  yes?: true;
  force?: true;
  commit?: string;
  /** Seconds. */
  hold: number[];
  shares: number[];
  allow?: string[];
  signal: AbortSignal;
};

/** Sets up an environment that has no worker: migrations, deployment, routes, smoke test. */
export async function first({ env, yes, signal }: Options): Promise<void> {
  const commit = env === 'staging' ? await committedHead() : (await readStaged()).commit;
  await withBuild(commit, async (build) => {
    const target = cloudflare.readTarget(env, build.folder);
    const store = storeOf(target, signal);
    const [exists] = await cloudflare.readDeployments(target);
    if (exists) throw new Error(`a worker named ${target.worker} exists: nothing is changed`);
    // Wrangler takes a host name over from another worker without asking.
    const answer = await fetch(target.baseUrl, { redirect: 'manual' }).catch(() => undefined);
    if (answer) throw new Error(`something answers at ${target.baseUrl}: nothing is changed`);
    await confirm(`set up ${env} with commit ${await describeCommit(commit)}`, env, yes);
    await applyMigrations(target, build);
    const version = await cloudflare.upload(target, build, ['deploy']);
    // A new address needs a DNS record and a certificate first.
    await smoke.smokeTest({ ...store, version }, 600);
    // Notes that it passed.
    const [newest] = await cloudflare.readDeployments(target);
    await startRun(target, newest).deploy(version, 100, version);
    console.log(`${env} serves ${version} at ${target.baseUrl}.`);
  });
}

/** Releases the commit that is checked out to staging. */
export async function staging(options: Options): Promise<void> {
  const commit = await committedHead();
  await withBuild(commit, (build) => release('staging', build, { ...options, shares: [] }));
}

/** Releases to production what staging serves, byte for byte. */
export async function promote(options: Options): Promise<void> {
  const { commit, digest } = await readStaged();
  if (options.commit && options.commit !== commit) throw new Error(`staging now serves ${commit}`);
  await withBuild(commit, async (build) => {
    const fix = `check out ${commit}, run npm ci, and repeat the command`;
    if (build.digest !== digest) throw new Error(`the build differs from staging's: ${fix}`);
    await release('production', build, options);
  });
}

/** What staging serves. @throws Error unless it passed its tests there. */
async function readStaged() {
  const token = process.env.CLOUDFLARE_STAGING_API_TOKEN;
  const target = cloudflare.readTarget('staging', undefined, token);
  const deployments = await cloudflare.readDeployments(target);
  const version = checks.onlyVersion('staging', deployments[0]);
  const result = checks.testResult(version, deployments);
  const { release } = await cloudflare.readVersion(target, version);
  if (release && result === checks.PASSED) return release;
  throw new Error(`staging serves ${version}, which ${result}: npm run release -- staging`);
}

async function release(env: cloudflare.EnvironmentName, build: Build, options: Options) {
  const { yes, allow = [], signal } = options;
  const target = cloudflare.readTarget(env, build.folder);
  const store = storeOf(target, signal);
  const [newest] = await cloudflare.readDeployments(target);
  const old = await cloudflare.readVersion(target, checks.onlyVersion(env, newest));
  // A rollback of a moment ago may still spread.
  const failure = await smoke.waitForVersion({ ...store, version: old.id }, 30).catch(oneLine);
  const served = { ...old, worker: failure ?? target.worker };
  const differences = checks.differences(served, target, allow).join('; ');
  const allowing = 'nothing is changed. If it is wanted, add --allow and the name before the colon';
  if (differences) throw new Error(`${differences}: ${allowing}`);
  await smoke.checkKey(store);
  const pending = await checkMigrations(target, build, old.release?.commit);
  const commit = await describeCommit(build.commit);
  const from = old.release ? await describeCommit(old.release.commit) : 'a version made by hand';
  const range = ['--is-ancestor', old.release?.commit ?? build.commit, build.commit];
  const isAhead = await git(['merge-base', ...range]).catch(() => undefined);
  const back = isAhead === undefined ? ' It goes BACK in history: it lacks what is served.' : '';
  console.log(`${env} serves ${from}. The release is ${commit}.${back}`);
  const migrating = pending.length > 0 ? ` after migrations ${pending.join(', ')}` : '';
  await confirm(`release ${commit}${migrating}`, env, yes);

  const run = startRun(target, newest);
  let version = '';
  try {
    if (pending.length > 0) await applyMigrations(target, build);
    version = await cloudflare.upload(target, build, ['versions', 'upload']);
    await run.deploy(version, 0, old.id);
    await smoke.smokeTest({ ...store, version, worker: target.worker });
    for (const share of options.shares) {
      await run.deploy(version, share, old.id);
      await hold(store, version, options);
    }
    await run.deploy(version, 100, old.id);
    await target.withSettings(['triggers', 'deploy']);
    await smoke.smokeTest({ ...store, version });
  } catch (cause) {
    const failure = signal.aborted ? 'interrupted' : oneLine(cause);
    throw new Error(`${failure}${await run.goBack(old.id, version, cause)}`, { cause });
  }
  console.log(`${env} serves ${version} to all.`);
}

/** Holds a share while clients use it, tests what all clients get, and asks before it goes on. */
async function hold(store: smoke.Store, version: string, options: Options): Promise<void> {
  const [seconds = 0] = options.hold;
  const query = 'status >= 500, count by $workers.scriptVersion.id';
  console.log(`Holding for ${seconds} s. Compare ${version} in Observability: ${query}`);
  const end = Date.now() + seconds * 1000;
  do {
    await smoke.smokeTest(store);
    const rest = Math.max(0, end - Date.now());
    await pause(Math.min(10_000, rest), undefined, { signal: options.signal });
  } while (Date.now() < end);
  if (process.stdin.isTTY) await confirm('give it more', 'production', options.yes);
}

/** Serves a version to all again, by its id or the first characters of it, and tests it. */
export async function rollback({ env, yes, force, signal }: Options, wanted: string) {
  const target = cloudflare.readTarget(env);
  const deployments = await cloudflare.readDeployments(target);
  const [newest] = deployments;
  const isUnfinished = newest?.note?.release === 'share';
  if (wanted === 'unfinished' && !isUnfinished)
    return console.log(`${env} serves ${cloudflare.sharesOf(newest)}: no release is unfinished`);
  const prefix = wanted === 'unfinished' ? (newest?.note?.replaces ?? '') : wanted;
  const ids = deployments.flatMap(({ shares }) => shares.map((share) => share.version_id));
  const [version = prefix, ...others] = new Set(ids.filter((id) => id.startsWith(prefix)));
  const list = `npx wrangler versions list --env ${env}`;
  if (prefix.length < 8 || others.length > 0 || version.length < 36)
    throw new Error(`${prefix} must be an id, or at least 8 characters of a recent one: ${list}`);
  const result = checks.testResult(version, deployments);
  if (result !== checks.PASSED && !force && wanted !== 'unfinished')
    throw new Error(`${version} ${result}: nothing is changed. To serve it anyway, add --force`);
  const from = cloudflare.sharesOf(newest);
  await confirm(`serve ${version}, which ${result}, in place of ${from}`, env, yes);
  const replaced = newest?.shares.at(-1)?.version_id ?? '';
  await startRun(target, newest).rollBack(version, 'rollback', replaced);
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
