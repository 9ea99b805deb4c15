/** The steps of a release: ask, check, roll out, and after a failure go back. `undo` goes back from a release that was killed. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { confirm, type DeployedEnvironment, onStop, safeMessage } from '../command/command-line.ts';
import {
  type Build,
  buildCommit,
  readHead,
  requireOwnHost,
  requireSameStore,
  requireSameWriteStop,
  requireSeparateStores,
  requireTested,
} from './checks.ts';
import {
  describe,
  readDeployments,
  readJson,
  readTarget,
  readVersion,
  requireOneVersion,
  sharesOf,
  type Target,
  uploadVersion,
  wrangler,
} from './deployments.ts';
import { type Endpoint, smokeTest, testReads } from './smoke.ts';
import { watchErrors } from './tail.ts';

type Options = { id?: string; hold?: number; yes?: true };

/** How much later a failed call may still take effect. */
const SETTLE_MS = 15_000;

/** Releases HEAD to an environment. */
export async function release(
  environment: DeployedEnvironment,
  { id: releaseId = randomUUID(), hold: holdSeconds = 0, yes }: Options,
) {
  const stop = new AbortController();
  onStop(() => {
    console.log('Stopping, except a rollback. This may take minutes.');
    stop.abort(new Error('interrupted'));
  });
  const commit = readHead();
  await confirm(`release commit ${commit}`, environment, yes, stop.signal);
  const build = await buildCommit(commit);
  const rollout = await prepare(await readTarget(environment), build, releaseId, stop);
  try {
    await rollOut(rollout, holdSeconds);
  } catch (cause) {
    // After an abort, `cause` may be only its consequence.
    console.error('error:', safeMessage(stop.signal.aborted ? stop.signal.reason : cause));
    // The failure is printed already, so the message says only what is served now.
    throw new Error(await goBack(rollout.target, releaseId, rollout.old.id), { cause });
  } finally {
    // Ends the watch of the log.
    stop.abort();
  }
}

/** A release that is under way. */
type Rollout = Awaited<ReturnType<typeof prepare>>;

/** Checks what can be checked before the upload, and changes nothing. */
async function prepare(target: Target, build: Build, releaseId: string, stop: AbortController) {
  requireOwnHost(target.config);
  await requireSeparateStores();
  if (target.environment === 'production') await requireTested(build);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (newest !== newestOfOthers)
    throw new Error('an earlier release has this id: choose another --id');
  const old = await readVersion(target, requireOneVersion(newest));
  requireSameStore(target, old);
  const oldEndpoint = {
    baseUrl: target.bindings.BASE_URL,
    // Without a key, `testReads` fails.
    apiKey: process.env.SMOKE_API_KEY ?? '',
    version: old.id,
  };
  // The old version must pass the test, because a release that fails goes back to it.
  await testReads(oldEndpoint);
  console.log('To serve again what is served now:', rollbackCommand(target, old.id));
  return {
    /** The message of this release's deployments, which distinguishes them from those of others. */
    releaseId,
    target,
    build,
    /** The version that served all requests before this release. */
    old,
    oldEndpoint,
    /** The id of the deployment before this release. */
    startId: newest.id,
    /** What must be served now, as `sharesOf` returns it. Changed by `deploy`. */
    expectedShares: sharesOf(newest),
    /** Aborts at an interrupt, and when the watch of the log ends the release. */
    stop,
  };
}

/** Uploads the build, and serves it to more and more requests. */
async function rollOut(rollout: Rollout, holdSeconds: number) {
  const { target, build, old } = rollout;
  const version = await upload(rollout);
  requireSameWriteStop(old, await readVersion(target, version));
  // Wrangler reads the migrations from the checkout, which must still be the built commit.
  if (readHead() !== build.commit) throw new Error('another commit was checked out');
  await applyMigrations(rollout);
  const test = target.environment === 'staging' ? smokeTest : testReads;
  const newEndpoint = { ...rollout.oldEndpoint, version };
  const endpointByOverride = { ...newEndpoint, override: `${target.config.name}="${version}"` };
  // At 0 %, because an override reaches only versions of the newest deployment.
  await deploy(rollout, version, 0);
  await test(endpointByOverride);
  if (holdSeconds > 0) await hold(rollout, endpointByOverride, holdSeconds);
  await deploy(rollout, version, 100);
  await test(newEndpoint);
  // Sets the routes and crons.
  await change(rollout, 'triggers', 'deploy');
  // Tests again, through the new routes.
  await test(newEndpoint);
  await requireUnchanged(rollout);
  console.log(target.environment, 'serves', version, 'to all.');
}

/** Runs a command that changes the environment, which must be as this release has left it. */
async function change(rollout: Rollout, ...args: string[]): Promise<string> {
  await requireUnchanged(rollout);
  return wrangler(rollout.target, ...args);
}

/** @throws Error if another operator or `undo` has deployed, or an interrupt or the watch of the log has ended the release. */
async function requireUnchanged({ releaseId, target, startId, expectedShares, stop }: Rollout) {
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  // Comes after the read, which takes seconds in which somebody can press Ctrl-C.
  stop.signal.throwIfAborted();
  if (newestOfOthers.id !== startId)
    throw new Error(`another operator intervened: ${describe(newestOfOthers)}`);
  const served = sharesOf(newest);
  if (served !== expectedShares)
    throw new Error(`${target.environment} serves ${served}, not ${expectedShares}`);
}

/** Returns the id of the new version. */
async function upload(rollout: Rollout): Promise<string> {
  const { commit, scriptPath, sha256 } = rollout.build;
  await requireUnchanged(rollout);
  return uploadVersion(
    rollout.target,
    scriptPath,
    '--no-bundle',
    '--tag',
    commit,
    '--message',
    sha256,
    // Otherwise wrangler would create a database for a binding without an id:
    // https://github.com/cloudflare/cloudflare-docs/issues/32978
    '--no-x-provision',
    // Refuses a worker that was changed in the dashboard.
    '--strict',
  );
}

async function applyMigrations(rollout: Rollout) {
  const { target } = rollout;
  const TimeTravel = z.object({ bookmark: z.string() });
  const { bookmark } = await readJson(TimeTravel, target, 'd1', 'time-travel', 'info', 'DB');
  const restore = 'npx wrangler d1 time-travel restore DB --bookmark';
  console.log(
    'Applying migrations. To restore the data:',
    restore,
    bookmark,
    '--env',
    target.environment,
  );
  const output = await change(rollout, 'd1', 'migrations', 'apply', 'DB', '--remote');
  // Matched, because wrangler 4.164 exits with 0 when D1 answers that a statement failed, and prints no JSON:
  // https://github.com/cloudflare/workers-sdk/issues/3365
  if (output.includes('❌')) throw new Error(`a migration failed: ${output}`);
}

/** Gives a version a percentage of the requests, and the rest to the old one. */
async function deploy(rollout: Rollout, version: string, percentage: number) {
  console.log(`Deploying ${version} at ${percentage} %`);
  const rest = percentage === 100 ? [] : [`${rollout.old.id}@${100 - percentage}%`];
  const shares = [`${version}@${percentage}%`, ...rest];
  const options = ['--yes', '--message', rollout.releaseId];
  await change(rollout, 'versions', 'deploy', ...shares, ...options);
  rollout.expectedShares = shares.sort().join(' ');
}

/** Watches the log of a version, gives it 10 % of the requests, and tests it every ten seconds. */
async function hold(rollout: Rollout, endpoint: Endpoint, seconds: number) {
  const { target, stop } = rollout;
  const allowDisconnect = await watchErrors(target.environment, endpoint.version, stop);
  await deploy(rollout, endpoint.version, 10);
  for (let secondsLeft = seconds; secondsLeft > 0; secondsLeft -= 10) {
    await testReads(endpoint);
    await pause(Math.min(secondsLeft, 10) * 1000, undefined, { signal: stop.signal });
  }
  // From now on, a lost connection of the watch is no reason to go back. A 500 still is.
  allowDisconnect();
}

/**
 * Serves again what others deployed last, with a second attempt after a failure. Returns what is served, as a sentence.
 *
 * @param old - the version that others deployed last, as far as is known.
 * @throws Error with the command to run, unless it could confirm that the version of the others is served again.
 */
async function goBack(target: Target, releaseId: string, old?: string): Promise<string> {
  console.log('Going back …');
  let version = old;
  for (const delayMs of [0, SETTLE_MS]) {
    await pause(delayMs);
    try {
      const { newest, newestOfOthers } = await readDeployments(target, releaseId);
      // Somebody may have deployed another version than `old`. Until it is known, the command has a placeholder.
      version = undefined;
      if (newest === newestOfOthers) {
        console.log('Nothing to undo: the newest deployment is not of release', releaseId);
      } else {
        version = requireOneVersion(newestOfOthers);
        // With this release's id, so that this deployment does not count as one of others.
        await wrangler(target, 'rollback', version, '--yes', '--message', releaseId);
      }
      return await readRestored(target, releaseId);
    } catch (error) {
      console.error('error:', safeMessage(error));
    }
  }
  throw new Error(`could not confirm the rollback. Run: ${rollbackCommand(target, version)}`);
}

/**
 * Returns what is served, as a sentence. Waits before it reads, because a failed call may take effect late.
 *
 * @throws Error if it is not what others deployed last.
 */
async function readRestored(target: Target, releaseId: string): Promise<string> {
  await pause(SETTLE_MS);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  const sentence = `${target.environment} serves ${sharesOf(newest)}`;
  if (sharesOf(newest) === sharesOf(newestOfOthers)) return sentence;
  throw new Error(sentence);
}

function rollbackCommand({ environment }: Target, version = '<version>'): string {
  return `npx wrangler rollback ${version} --env ${environment}`;
}

/** Goes back from the release with an id, which is the message of its deployments. */
export async function undo(environment: DeployedEnvironment, releaseId: string) {
  console.log(await goBack(await readTarget(environment), releaseId));
}
