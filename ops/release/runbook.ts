/** The steps of a release, of a rollback and of undo. Cloudflare's list of deployments is their only state. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { confirm, type DeployedEnvironment, onStop, safeMessage } from '../command/command-line.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import { requireOwnHost } from '../host.ts';
import {
  type Build,
  buildHead,
  printChange,
  requireSameStore,
  requireSameWrites,
  requireSeparateStores,
  requireTested,
} from './checks.ts';
import {
  applyMigrations,
  deploy,
  deployTriggers,
  failureOf,
  goBack,
  hold,
  type Rollout,
  requireUnchanged,
  SETTLE_MS,
  storeOf,
  upload,
} from './deploy.ts';
import {
  describe,
  isOfRelease,
  readDeployments,
  readTarget,
  readVersion,
  requireOneVersion,
  serve,
  sharesOf,
  type Target,
  type Version,
} from './deployments.ts';
import { type Store, smokeTest, testReads } from './smoke.ts';

export type ReleaseOptions = {
  /** The id of the release. */
  run?: string;
  hold: number;
  unwatched?: true;
  resumeWrites?: true;
  yes?: true;
};
type BackOptions = { env: DeployedEnvironment; force?: true; yes?: true };

/** Releases HEAD to an environment. */
export async function release(environment: DeployedEnvironment, options: ReleaseOptions) {
  const stop = stopOnSignal();
  // A folder of this release: another one in this checkout must not replace it.
  const folder = join(PROJECT_ROOT, 'dist', randomUUID());
  try {
    const build = await buildHead(folder);
    const rollout = await prepare(readTarget(environment), build, options, stop);
    await rollOut(rollout, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Checks all that the release relies on, and asks. Changes nothing. */
async function prepare(
  target: Target,
  build: Build,
  options: ReleaseOptions,
  stop: AbortController,
): Promise<Rollout> {
  const { environment } = target;
  const releaseId = options.run ?? randomUUID();
  requireOwnHost(target.config);
  requireSeparateStores(target);
  if (environment === 'production') await requireTested(build);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (newest !== newestOfOthers)
    throw new Error(`an earlier release has the id ${releaseId}: choose another --run`);
  const old = await readVersion(target, requireOneVersion(target, newest));
  requireSameStore(target, old);
  // A release goes back to this version.
  await testReads(storeOf(target, old.id, stop.signal));
  await printChange(old, build);
  await confirm(`release commit ${build.commit}`, environment, options.yes, stop.signal);
  // Somebody may have rolled staging back meanwhile.
  if (environment === 'production') await requireTested(build);
  return {
    releaseId,
    target,
    build,
    old,
    startId: newest.id,
    expectedShares: sharesOf(newest),
    mayHaveDeployed: false,
    failedSettings: [],
    stop,
  };
}

/** Uploads the build, and serves it to more and more requests. After a failure, serves the old version again. */
async function rollOut(rollout: Rollout, options: ReleaseOptions) {
  const { target, stop } = rollout;
  const { environment, config } = target;
  const test = environment === 'staging' ? smokeTest : testReads;
  try {
    const version = await upload(rollout, options.resumeWrites);
    const store = storeOf(target, version, stop.signal);
    const byOverride = { ...store, override: `${config.name}="${version}"` };
    await applyMigrations(rollout);
    // At 0 %, because an override reaches only versions of the newest deployment.
    await deploy(rollout, version, 0);
    await test(byOverride);
    if (environment === 'production') await hold(rollout, byOverride, options);
    await deploy(rollout, version, 100);
    await test(store);
    await deployTriggers(rollout);
    // Again, by the routes that were set.
    await test(store);
    await requireUnchanged(rollout);
    console.log(environment, 'serves', version, 'to all.');
  } catch (cause) {
    const problem = safeMessage(stop.signal.aborted ? stop.signal.reason : cause);
    const end = rollout.mayHaveDeployed
      ? await goBack(target, rollout.releaseId, rollout.old.id, problem)
      : 'no version was deployed';
    throw new Error(`${problem}; ${end}`, { cause });
  }
  // The version stays, but the exit code must not be that of a success.
  if (rollout.failedSettings.length > 0) throw new Error(rollout.failedSettings.join('; '));
}

/** Serves a version to all. */
export async function rollback(version: string, { env, force, yes }: BackOptions) {
  const { signal } = stopOnSignal();
  const target = readTarget(env);
  const wanted = force ? undefined : await readVersion(target, version);
  if (wanted) await requireSameStoreAndWrites(target, wanted);
  await confirm(`serve ${version} to all`, env, yes, signal);
  // Somebody may have stopped or resumed writes meanwhile.
  if (wanted) await requireSameStoreAndWrites(target, wanted);
  signal.throwIfAborted();
  const store = storeOf(target, version, signal);
  const problem = await failureOf(serveAndTest(target, store));
  if (problem) console.error(`error: ${problem}`);
  // Another release, or a call that failed, may take effect later.
  await pause(SETTLE_MS);
  const served = await readServed(target);
  const state = `${env} serves ${served}`;
  if (problem || served !== `${version}@100%`)
    throw new Error(`${state}, not ${version}@100% with a passed test`);
  const test = store.apiKey ? 'is tested.' : 'is not tested: SMOKE_API_KEY is not set.';
  console.log(state, 'and', test);
}

/** @throws Error if a rollback would change more than the code. */
async function requireSameStoreAndWrites(target: Target, wanted: Version) {
  try {
    requireSameStore(target, wanted);
    const { newest } = await readDeployments(target);
    for (const { version_id } of newest.versions)
      requireSameWrites(await readVersion(target, version_id), wanted);
  } catch (cause) {
    throw new Error(`${safeMessage(cause)}. To roll back without this check: --force`, { cause });
  }
}

async function serveAndTest(target: Target, store: Store) {
  // With a space, the message is not the id of a release.
  await serve(target, store.version, 'rollback by hand');
  if (store.apiKey) await testReads(store);
}

async function readServed(target: Target): Promise<string> {
  try {
    return sharesOf((await readDeployments(target)).newest);
  } catch (cause) {
    throw new Error(`it is unknown what is served: ${safeMessage(cause)}`, { cause });
  }
}

/** Goes back from a release by its id. */
export async function undo(releaseId: string, { env, yes }: BackOptions) {
  const { signal } = stopOnSignal();
  const target = readTarget(env);
  const { deployments, newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (!deployments.some((each) => isOfRelease(releaseId, each))) {
    // Of a mistyped id, or of another release: nothing is undone, and that is no success.
    requireOneVersion(target, newest);
    const reason = `None of the ten newest deployments is of ${releaseId}: nothing to undo.`;
    return console.log(reason, env, 'serves', sharesOf(newest));
  }
  const old = requireOneVersion(target, newestOfOthers);
  console.log(deployments.map(describe).join('\n'));
  await confirm(`go back from the release ${releaseId}`, env, yes, signal);
  console.log(await goBack(target, releaseId, old, `the release ${releaseId} is not undone`));
}

/** Aborts at a signal, with the reason that a release prints. */
function stopOnSignal(): AbortController {
  const stop = new AbortController();
  stop.signal.addEventListener('abort', () =>
    console.log('Stopping, after the call of wrangler that is under way: up to 5 minutes.'),
  );
  onStop(() => stop.abort(new Error('interrupted')));
  return stop;
}
