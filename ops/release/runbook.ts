/** The steps of a release, and the way back. Cloudflare's list of deployments is their only state. */
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { confirm, type DeployedEnvironment, onStop, safeMessage } from '../command/command-line.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import {
  type Build,
  buildHead,
  readHead,
  requireOwnHost,
  requireSameStore,
  requireSameWrites,
  requireSeparateStores,
  requireTested,
} from './checks.ts';
import {
  describe,
  onlyVersionOf,
  readDeployments,
  readJson,
  readTarget,
  readVersion,
  requireOneVersion,
  sharesOf,
  type Target,
  wrangler,
} from './deployments.ts';
import { type Store, smokeTest, testReads } from './smoke.ts';
import { watchErrors } from './tail.ts';

/** `id`: of the release; random by default. */
type Options = { id?: string; holdSeconds?: number; yes?: true };

/** A call that failed may take effect up to this much later. */
const SETTLE_MS = 15_000;

/** Releases HEAD to an environment. */
export async function release(environment: DeployedEnvironment, options: Options) {
  const stop = new AbortController();
  onStop(() => {
    console.log('Stopping, after the call of wrangler that is under way: up to 5 minutes.');
    stop.abort(new Error('interrupted'));
  });
  const commit = await readHead();
  await confirm(`release commit ${commit}`, environment, options.yes, stop.signal);
  // A folder of this release: another one in this checkout must not replace it.
  const folder = join(PROJECT_ROOT, 'dist', randomUUID());
  try {
    const build = await buildHead(folder);
    if (build.commit !== commit) throw new Error('another commit was checked out');
    const rollout = await prepare(readTarget(environment), build, options.id ?? randomUUID(), stop);
    await rollOutOrGoBack(rollout, options.holdSeconds ?? 0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A release that is under way. */
type Rollout = Awaited<ReturnType<typeof prepare>>;

/** Checks all that the release relies on. Changes nothing. */
async function prepare(target: Target, build: Build, releaseId: string, stop: AbortController) {
  const { environment, config } = target;
  requireOwnHost(config);
  requireSeparateStores(target);
  if (environment === 'production') await requireTested(build, releaseId);
  const { newest, hasOwn } = await readDeployments(target, releaseId);
  if (hasOwn) throw new Error(`an earlier release has the id ${releaseId}: choose another --id`);
  const old = await readVersion(target, requireOneVersion(target, newest));
  requireSameStore(target, old);
  // A release goes back to this version.
  await testReads(storeOf(target, old.id, stop.signal));
  console.log('To serve again what is served now:', rollbackTo(old.id, target));
  return {
    /** The message of its deployments, by which it recognises them. */
    releaseId,
    target,
    build,
    /** The version that is served to all before. */
    old,
    /** The id of the deployment before this release. */
    startId: newest.id,
    /** What must be served now, as `sharesOf` returns it. */
    expectedShares: sharesOf(newest),
    mayHaveDeployed: false,
    /** Aborts at an interrupt, and when the watch of the log ends the release. */
    stop,
  };
}

async function rollOutOrGoBack(rollout: Rollout, holdSeconds: number) {
  const { target, releaseId, old, stop } = rollout;
  const { environment } = target;
  try {
    const version = await rollOut(rollout, holdSeconds);
    console.log(environment, 'serves', version, 'to all.');
  } catch (cause) {
    const problem = safeMessage(stop.signal.aborted ? stop.signal.reason : cause);
    if (!rollout.mayHaveDeployed) throw new Error(`${problem}; no version was deployed`, { cause });
    console.error('error:', problem);
    throw new Error(`${environment} serves ${await goBack(target, releaseId, old.id)}`, { cause });
  }
}

/** Uploads the build, and serves it to more and more requests. Returns the id of its version. */
async function rollOut(rollout: Rollout, holdSeconds: number): Promise<string> {
  const { target, build, old, stop } = rollout;
  const test = target.environment === 'staging' ? smokeTest : testReads;
  const version = await upload(rollout);
  requireSameWrites(old, await readVersion(target, version));
  // The migrations are read from the checkout, as the upload was.
  if ((await readHead()) !== build.commit) throw new Error('another commit was checked out');
  await applyMigrations(rollout);
  const store = storeOf(target, version, stop.signal);
  const byOverride = { ...store, override: `${target.config.name}="${version}"` };
  // At 0 %, because an override reaches only versions of the newest deployment.
  await deploy(rollout, version, 0);
  await test(byOverride);
  const watch = holdSeconds > 0 ? await watchErrors(target.environment, version, stop) : undefined;
  try {
    if (watch) await hold(rollout, byOverride, holdSeconds);
    // From now on, a lost watch is no reason to go back. A 500 still is.
    watch?.allowLoss();
    await deploy(rollout, version, 100);
    await test(store);
    await requireUnchanged(rollout);
    // Sets the routes and crons.
    await wrangler(target, 'triggers', 'deploy');
    // Again, by the routes that were set.
    await test(store);
    await requireUnchanged(rollout);
  } finally {
    watch?.end();
  }
  return version;
}

/** Without an API key, the first test ends a release. */
function storeOf(target: Target, version: string, signal: AbortSignal): Store {
  const { environment, baseUrl } = target;
  return { environment, baseUrl, version, apiKey: process.env.SMOKE_API_KEY ?? '', signal };
}

/** Nobody else has deployed, not even `undo`, and nobody has interrupted. */
async function requireUnchanged({ releaseId, target, startId, expectedShares, stop }: Rollout) {
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  // After the read: it takes seconds, in which somebody can press Ctrl-C.
  stop.signal.throwIfAborted();
  if (newestOfOthers?.id !== startId)
    throw new Error(`another operator intervened: ${describe(newestOfOthers ?? newest)}`);
  const served = sharesOf(newest);
  if (served !== expectedShares) throw new Error(`it serves ${served}, not ${expectedShares}`);
}

/** Returns the id of the new version. */
async function upload({ target, build }: Rollout): Promise<string> {
  const output = await wrangler(
    target,
    'versions',
    'upload',
    build.script,
    '--no-bundle',
    // Otherwise wrangler would create a database for a binding without an id.
    '--no-x-provision',
    // Refuses a worker that was changed in the dashboard.
    '--strict',
    '--tag',
    build.commit,
    '--message',
    build.sha256,
  );
  const [, version] = / Version ID: (\S+)/.exec(output) ?? [];
  if (!version) throw new Error('wrangler names no version');
  return version;
}

async function applyMigrations(rollout: Rollout) {
  const { target } = rollout;
  const TimeTravel = z.looseObject({ bookmark: z.string() });
  const { bookmark } = await readJson(TimeTravel, target, 'd1', 'time-travel', 'info', 'DB');
  const restore = `npx wrangler d1 time-travel restore DB --env ${target.environment}`;
  console.log(`Applying migrations. To restore the data: ${restore} --bookmark ${bookmark}`);
  await requireUnchanged(rollout);
  const output = await wrangler(target, 'd1', 'migrations', 'apply', 'DB', '--remote');
  // When D1 answers that a statement had no success, wrangler exits with 0 all the same.
  if (output.includes('❌')) throw new Error(`a migration failed: ${safeMessage(output)}`);
}

/** Gives a version a percentage of the requests, and the rest to the old one. */
async function deploy(rollout: Rollout, version: string, percentage: number) {
  const { releaseId, target, old } = rollout;
  await requireUnchanged(rollout);
  console.log('Deploying', version, 'at', percentage, '%');
  const rest = percentage === 100 ? [] : [`${old.id}@${100 - percentage}%`];
  const shares = [`${version}@${percentage}%`, ...rest];
  rollout.expectedShares = shares.toSorted().join(' ');
  // Before the call, because one that fails may still take effect.
  rollout.mayHaveDeployed = true;
  await wrangler(target, 'versions', 'deploy', ...shares, '--yes', '--message', releaseId);
}

/** Gives a version 10 %, and tests it every ten seconds. */
async function hold(rollout: Rollout, store: Store, seconds: number) {
  await deploy(rollout, store.version, 10);
  console.log('Holding 10 %. To compare the versions: docs/alerts/share-of-5xx.json');
  await testReads(store);
  for (let left = seconds; left > 0; left -= 10) {
    await pause(Math.min(left, 10) * 1000, undefined, { signal: rollout.stop.signal });
    await testReads(store);
  }
}

/**
 * Serves again what others deployed last, in two tries. Returns the shares that are served.
 *
 * @throws Error with the command to run when they are not known, or when two releases run at once.
 */
async function goBack(target: Target, releaseId: string, old = '<version>'): Promise<string> {
  console.log('Going back …');
  let versionToServe = old;
  for (const delayMs of [0, SETTLE_MS]) {
    await pause(delayMs);
    try {
      const { newest, newestOfOthers } = await readDeployments(target, releaseId);
      // Somebody may have deployed meanwhile.
      versionToServe = onlyVersionOf(newestOfOthers) ?? '<version>';
      if (newest !== newestOfOthers)
        await serve(target, requireOneVersion(target, newestOfOthers), releaseId);
      return await readRestored(target, releaseId);
    } catch (error) {
      console.error('error:', safeMessage(error));
    }
  }
  const command = rollbackTo(versionToServe, target);
  throw new Error(`could not confirm that it went back. Run: ${command}`);
}

/** Under the id of this release: under another, the deployment would itself be the newest one of others. */
function serve(target: Target, version: string, releaseId: string): Promise<string> {
  return wrangler(target, 'rollback', version, '--yes', '--message', releaseId);
}

/** The shares that are served, read later, because a call that failed may take effect late. */
async function readRestored(target: Target, releaseId: string): Promise<string> {
  await pause(SETTLE_MS);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  const served = sharesOf(newest);
  if (newestOfOthers && served === sharesOf(newestOfOthers)) return served;
  throw new Error(`${served} is served`);
}

function rollbackTo(version: string, { environment }: Target): string {
  return `npx wrangler rollback ${version} --env ${environment}`;
}

/** Goes back from a release by its id. */
export async function undo(environment: DeployedEnvironment, releaseId: string) {
  const target = readTarget(environment);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (newest === newestOfOthers) {
    const reason = `the newest deployment is not of ${releaseId}: nothing to undo`;
    return console.log(`${environment} serves ${sharesOf(newest)}; ${reason}`);
  }
  console.log(`${environment} serves ${await goBack(target, releaseId)}`);
}
