/** The steps of a release: ask, check, roll out, go back. `undo` finds a release by its id in Cloudflare's list of deployments. */
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
  requireSameWrites,
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
import { type Store, smokeTest, testReads } from './smoke.ts';
import { watchErrors } from './tail.ts';

type Options = { id?: string; hold?: number; yes?: true };

/** A call that failed may take effect up to this much later. */
const SETTLE_MS = 15_000;

/** Releases HEAD to an environment. */
export async function release(
  environment: DeployedEnvironment,
  { id: releaseId = randomUUID(), hold: holdSeconds = 0, yes }: Options,
) {
  const stop = new AbortController();
  onStop(() => {
    console.log('Stopping, after the call of wrangler that is under way: up to 5 minutes.');
    stop.abort(new Error('interrupted'));
  });
  const commit = await readHead();
  await confirm(`release commit ${commit}`, environment, yes, stop.signal);
  const build = await buildCommit(commit);
  const rollout = await prepare(readTarget(environment), build, releaseId, stop);
  try {
    await rollOut(rollout, holdSeconds);
  } catch (cause) {
    console.error('error:', safeMessage(stop.signal.aborted ? stop.signal.reason : cause));
    // The reason is printed, so the message is what is served now.
    throw new Error(await goBack(rollout.target, releaseId, rollout.old.id), { cause });
  } finally {
    // Ends the watch of the log.
    stop.abort();
  }
}

/** A release that is under way. */
type Rollout = Awaited<ReturnType<typeof prepare>>;

/** Checks what can be checked before the upload. Changes nothing. */
async function prepare(target: Target, build: Build, releaseId: string, stop: AbortController) {
  requireOwnHost(target.config);
  requireSeparateStores();
  if (target.environment === 'production') await requireTested(build);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (newest !== newestOfOthers)
    throw new Error('an earlier release has this id: choose another --id');
  const old = await readVersion(target, requireOneVersion(newest));
  requireSameStore(target, old);
  const oldStore = {
    baseUrl: target.bindings.BASE_URL,
    // Without a key, `testReads` fails.
    apiKey: process.env.SMOKE_API_KEY ?? '',
    version: old.id,
  };
  // The old version must pass the test, because a release that fails goes back to it.
  await testReads(oldStore);
  console.log('To serve again what is served now:', rollbackCommand(target, old.id));
  return {
    /** The message of its deployments, by which it recognises them. */
    releaseId,
    target,
    build,
    /** The version that served all requests before this release. */
    old,
    /** For the test of the old version. */
    oldStore,
    /** The id of the deployment before this release. */
    startId: newest.id,
    /** What must be served now, as `sharesOf` returns it. */
    expectedShares: sharesOf(newest),
    /** Aborts at an interrupt, and when the watch of the log ends the release. */
    stop,
  };
}

/** Uploads the build, and serves it to more and more requests. */
async function rollOut(rollout: Rollout, holdSeconds: number) {
  const { target, build, old } = rollout;
  const version = await upload(rollout);
  requireSameWrites(old, await readVersion(target, version));
  // Wrangler reads the migrations from the checkout.
  if ((await readHead()) !== build.commit) throw new Error('another commit was checked out');
  await applyMigrations(rollout);
  const test = target.environment === 'staging' ? smokeTest : testReads;
  const newStore = { ...rollout.oldStore, version };
  const newStoreByOverride = { ...newStore, override: `${target.config.name}="${version}"` };
  // At 0 %, because an override reaches only versions of the newest deployment.
  await deploy(rollout, version, 0);
  await test(newStoreByOverride);
  if (holdSeconds > 0) await hold(rollout, newStoreByOverride, holdSeconds);
  await deploy(rollout, version, 100);
  await test(newStore);
  // Sets the routes and crons.
  await change(rollout, 'triggers', 'deploy');
  // Again, by the routes that were set.
  await test(newStore);
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
  // After the read: it takes seconds, in which somebody can press Ctrl-C.
  stop.signal.throwIfAborted();
  if (newestOfOthers.id !== startId)
    throw new Error(`another operator intervened: ${describe(newestOfOthers)}`);
  const served = sharesOf(newest);
  if (served !== expectedShares) throw new Error(`it serves ${served}, not ${expectedShares}`);
}

/** Returns the id of the new version. */
async function upload(rollout: Rollout): Promise<string> {
  const { commit, script, sha256 } = rollout.build;
  await requireUnchanged(rollout);
  return uploadVersion(
    rollout.target,
    ...[script, '--no-bundle', '--tag', commit, '--message', sha256],
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
  const message = ['--yes', '--message', rollout.releaseId];
  await change(rollout, 'versions', 'deploy', ...shares, ...message);
  rollout.expectedShares = shares.sort().join(' ');
}

/** Gives a version 10 %, watches its log, and tests it every ten seconds. */
async function hold(rollout: Rollout, store: Store, seconds: number) {
  const { target, stop } = rollout;
  const allowLoss = await watchErrors(target.environment, store.version, stop);
  await deploy(rollout, store.version, 10);
  for (let left = seconds; left > 0; left -= 10) {
    await testReads(store);
    await pause(Math.min(left, 10) * 1000, undefined, { signal: stop.signal });
  }
  // From now on, a lost watch is no reason to go back. A 500 still is.
  allowLoss();
}

/**
 * Serves again what others deployed last, in two tries. Returns what is served, as a sentence.
 *
 * @throws Error with the command to run, unless it could confirm that the version of the others is served again.
 */
async function goBack(target: Target, releaseId: string, old?: string): Promise<string> {
  console.log('Going back …');
  let command = rollbackCommand(target, old);
  for (const delayMs of [0, SETTLE_MS]) {
    await pause(delayMs);
    try {
      const { newest, newestOfOthers } = await readDeployments(target, releaseId);
      // Somebody may have deployed another version than `old`. Until it is known, the command has a placeholder.
      command = rollbackCommand(target);
      if (newest === newestOfOthers) {
        console.log('Nothing to undo: the newest deployment is not of', releaseId);
      } else {
        const version = requireOneVersion(newestOfOthers);
        command = rollbackCommand(target, version);
        // With this release's id, so that this deployment does not count as one of others.
        await wrangler(target, 'rollback', version, '--yes', '--message', releaseId);
      }
      return await readRestored(target, releaseId);
    } catch (error) {
      console.error('error:', safeMessage(error));
    }
  }
  throw new Error(`could not confirm that it went back. Run: ${command}`);
}

/** Reads later what is served, because a call that failed may take effect late. */
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

/** Goes back from a release by its id. */
export async function undo(environment: DeployedEnvironment, releaseId: string) {
  console.log(await goBack(readTarget(environment), releaseId));
}
