/** What a release changes at Cloudflare, step by step, and the way back. */
import { setTimeout as pause } from 'node:timers/promises';
import { safeMessage } from '../command/command-line.ts';
import { requireMigrated } from '../migrations.ts';
import { type Build, readHead, requireSameWrites } from './checks.ts';
import {
  describe,
  isOfRelease,
  onlyVersionOf,
  readDeployments,
  readJson,
  readVersion,
  requireOneVersion,
  serve,
  sharesOf,
  type Target,
  type Version,
  wrangler,
} from './deployments.ts';
import { type Store, testReads } from './smoke.ts';
import { watchErrors } from './tail.ts';

/** A release that is under way. */
export type Rollout = {
  /** The message of its deployments, by which it recognises them. */
  releaseId: string;
  target: Target;
  build: Build;
  /** The version that was served to all before. */
  old: Version;
  /** The id of the deployment before this release. */
  startId: string;
  /** What must be served now, as `sharesOf` returns it. */
  expectedShares: string;
  mayHaveDeployed: boolean;
  /** Log settings, routes and crons that could not be set, each with the command that sets them. */
  failedSettings: string[];
  /** Aborts at an interrupt, and when the watch of the log ends the release. */
  stop: AbortController;
};

/** A call that failed may take effect up to this much later. */
export const SETTLE_MS = 15_000;

/** Without an API key, the first test ends a release, and a rollback is not tested. */
export function storeOf(
  { environment, baseUrl }: Target,
  version: string,
  signal: AbortSignal,
): Store {
  return { environment, baseUrl, version, apiKey: process.env.SMOKE_API_KEY ?? '', signal };
}

/** The files that wrangler reads are those of the build, and nobody else has deployed, not even `undo`. */
export async function requireUnchanged(rollout: Rollout) {
  const { releaseId, target, build, startId, expectedShares, stop } = rollout;
  stop.signal.throwIfAborted();
  if ((await readHead()) !== build.commit) throw new Error('another commit was checked out');
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (newestOfOthers.id !== startId)
    throw new Error(`another operator intervened: ${describe(newestOfOthers)}`);
  const served = sharesOf(newest);
  if (served !== expectedShares) throw new Error(`it serves ${served}, not ${expectedShares}`);
}

/** Returns the id of the new version. */
export async function upload(rollout: Rollout, mayResumeWrites?: boolean): Promise<string> {
  const { target, build, old } = rollout;
  await requireUnchanged(rollout);
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
  requireSameWrites(old, await readVersion(target, version), mayResumeWrites);
  return version;
}

export async function applyMigrations(rollout: Rollout) {
  const { target } = rollout;
  await requireUnchanged(rollout);
  const { bookmark } = await readJson(target, 'd1', 'time-travel', 'info', 'DB');
  if (!bookmark) throw new Error('wrangler names no bookmark to which the data can be restored');
  const restore = `npx wrangler d1 time-travel restore DB --env ${target.environment}`;
  console.log(`Applying migrations. To restore the data: ${restore} --bookmark ${bookmark}`);
  requireMigrated(await wrangler(target, 'd1', 'migrations', 'apply', 'DB', '--remote'));
}

/** Gives a version a percentage of the requests, and the rest to the old one. */
export async function deploy(rollout: Rollout, version: string, percentage: number) {
  const { releaseId, target, old } = rollout;
  await requireUnchanged(rollout);
  console.log('Deploying', version, 'at', percentage, '%');
  const rest = percentage === 100 ? [] : [`${old.id}@${100 - percentage}%`];
  const shares = [`${version}@${percentage}%`, ...rest];
  rollout.expectedShares = shares.toSorted().join(' ');
  // Before the call, because one that fails may still take effect.
  rollout.mayHaveDeployed = true;
  const command = ['versions', 'deploy', ...shares, '--yes', '--message', releaseId];
  const failure = await failureOf(wrangler(target, ...command));
  // If the new shares are served, the call has deployed, also if it failed.
  const problem = await failureOf(requireUnchanged(rollout));
  if (problem) throw new Error(failure ? `${failure}; ${problem}` : problem);
  // Wrangler sends the log settings after it has deployed. At 0 and 10 %, the next deployment sends them again.
  if (failure && percentage === 100)
    noteFailure(rollout, failure, `versions deploy ${version}@100%`);
}

/** Gives a version 10 %, and tests it every ten seconds. Its first 500, to any client, ends the release. */
export async function hold(
  rollout: Rollout,
  store: Store,
  options: { hold: number; unwatched?: true },
) {
  const { target, stop } = rollout;
  const isWatched = options.hold > 0 && !options.unwatched;
  const endWatch = isWatched
    ? await watchErrors(target.environment, store.version, stop)
    : undefined;
  try {
    await deploy(rollout, store.version, 10);
    console.log('Holding 10 %. To compare the versions: docs/alerts/share-of-5xx.json');
    await testReads(store);
    for (let left = options.hold; left > 0; left -= 10) {
      await pause(Math.min(left, 10) * 1000, undefined, { signal: stop.signal });
      await testReads(store);
    }
  } finally {
    endWatch?.();
  }
}

/** Sets the routes and crons. */
export async function deployTriggers(rollout: Rollout) {
  await requireUnchanged(rollout);
  const failure = await failureOf(wrangler(rollout.target, 'triggers', 'deploy'));
  if (failure) noteFailure(rollout, failure, 'triggers deploy');
}

/** Waits for a call, and returns its error message if it fails: it may have taken effect all the same. */
export async function failureOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return '';
  } catch (error) {
    return safeMessage(error);
  }
}

/** Keeps a failure until the end: it does not end the release, and after a way back its command would be wrong. */
function noteFailure({ target, failedSettings }: Rollout, failure: string, command: string) {
  failedSettings.push(`${failure}. Run: npx wrangler ${command} --env ${target.environment}`);
}

/**
 * Serves again what others deployed last, in two tries. Returns what is served. `old`: the version that the error
 * names if no deployments can be read.
 *
 * @throws Error with the command to run when that is not known, or when two releases run at once.
 */
export async function goBack(target: Target, releaseId: string, old: string, problem: string) {
  console.log('Going back …');
  let versionToServe = old;
  for (const delayMs of [0, SETTLE_MS]) {
    await pause(delayMs);
    try {
      const { newest, newestOfOthers } = await readDeployments(target, releaseId);
      // Somebody may have deployed meanwhile.
      versionToServe = onlyVersionOf(newestOfOthers) ?? versionToServe;
      // Under the id of this release: under another, it would itself be the newest deployment of others.
      if (isOfRelease(releaseId, newest))
        await serve(target, requireOneVersion(target, newestOfOthers), releaseId);
      return `${target.environment} serves ${await readRestored(target, releaseId)}`;
    } catch (error) {
      console.error(`error: ${safeMessage(error)}`);
    }
  }
  const command = `npx wrangler rollback ${versionToServe} --env ${target.environment}`;
  throw new Error(`${problem}; could not confirm that it went back. Run: ${command}`);
}

/** The shares that are served, read later, because a call that failed may take effect late. */
async function readRestored(target: Target, releaseId: string): Promise<string> {
  await pause(SETTLE_MS);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  const served = sharesOf(newest);
  if (served === sharesOf(newestOfOthers)) return served;
  throw new Error(`${served} is served`);
}
