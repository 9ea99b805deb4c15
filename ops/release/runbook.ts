/** The steps of a release: check, show the plan, ask, roll out, and after a failure go back. `undo` goes back from a killed release. */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import * as z from 'zod/mini';
import { confirm, type DeployedEnvironment, onStop, safeMessage } from '../command/command-line.ts';
import { rejectOtherConfig } from '../command/reject-other-config.ts';
import { requireSetUp } from '../command/wrangler.ts';
import {
  buildCommit,
  listCommits,
  readHead,
  requireSameBindings,
  requireSmokeKey,
  requireTested,
  requireUnchangedBuild,
} from './checks.ts';
import {
  type Deployment,
  describe,
  readDeployments,
  readJson,
  readTarget,
  readVersion,
  requireOneVersion,
  sharesOf,
  soleVersion,
  type Target,
  uploadVersion,
  wrangler,
} from './deployments.ts';
import { readPendingMigrations } from './migrations.ts';
import { type Endpoint, smokeTest, testReads } from './smoke.ts';
import { watchErrors } from './tail.ts';

type Options = { id?: string; hold?: number; yes?: true; dryRun?: true };

/** How much later a failed call may still take effect. */
const SETTLE_MS = 15_000;
/** The pauses before the attempts to go back: ten minutes, with the waits of `readRestored`. */
const ATTEMPTS_MS = [0, SETTLE_MS, 30_000, 60_000, 120_000, 300_000];

/** Releases HEAD to an environment. */
export async function release(
  environment: DeployedEnvironment,
  { id: releaseId = randomUUID(), hold: holdSeconds = 0, yes, dryRun }: Options,
) {
  const stop = new AbortController();
  onStop(() => {
    console.log('Stopping, except a rollback. This may take minutes.');
    stop.abort(new Error('interrupted'));
  });
  const rollout = await prepare(environment, releaseId, stop);
  await printPlan(rollout, holdSeconds);
  if (dryRun) return;
  // The question can wait for long, because what is served and built is looked at again.
  await confirm(`release commit ${rollout.build.commit}`, environment, yes, stop.signal);
  try {
    await rollOut(rollout, holdSeconds);
  } catch (cause) {
    // After an abort, `cause` may be only its consequence.
    console.error('error:', safeMessage(stop.signal.aborted ? stop.signal.reason : cause));
    // The failure is printed already, so the message says only what is served now.
    const served = await goBack(rollout.target, releaseId, rollout.old.id);
    throw new Error(sentenceOf(rollout.target, served), { cause });
  } finally {
    // Ends the watch of the log.
    stop.abort();
  }
}

/** A release that is under way. */
type Rollout = Awaited<ReturnType<typeof prepare>>;

/** Builds HEAD, checks what can be checked before the upload, and changes nothing. */
async function prepare(environment: DeployedEnvironment, releaseId: string, stop: AbortController) {
  rejectOtherConfig();
  const apiKey = requireSmokeKey(environment);
  const build = await buildCommit(readHead());
  const target = await readTarget(environment);
  if (environment === 'production') await requireTested(build);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (newest !== newestOfOthers)
    throw new Error('an earlier release has this id: choose another --id');
  const old = await readVersion(target, requireOneVersion(newest));
  const oldEndpoint = { baseUrl: target.baseUrl, apiKey, version: old.id };
  // The old version must pass the test, because a release that fails goes back to it.
  await testReads(oldEndpoint);
  console.log('To serve again what is served now:', commandOf(target, 'rollback', old.id));
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

/** Prints what the release will change. */
async function printPlan({ target, build, old }: Rollout, holdSeconds: number) {
  const pending = await readPendingMigrations(target);
  console.log('Commits that', target.environment, 'gets (>) or loses (<):');
  console.log(listCommits(old.annotations['workers/tag'], build.commit) || 'none');
  console.log('Migrations to apply:', pending.join(', ') || 'none');
  console.log('Steps: upload, migrations, test at 0 %, 10 %, 100 %, routes and crons.');
  console.log('Seconds at 10 %, while the log is watched:', holdSeconds);
  const staging = await readTarget('staging');
  const production = await readTarget('production');
  if (staging.accountId === production.accountId)
    console.log(
      "One account: people with staging's token can deploy production without a review. See docs/set-up.md#production.",
    );
}

/** Uploads the build, and serves it to more and more requests. */
async function rollOut(rollout: Rollout, holdSeconds: number) {
  const { target, build, old } = rollout;
  await requireUnchangedBuild(build);
  await requireUnchanged(rollout);
  const version = await uploadVersion(target, build);
  requireSameBindings(old, await readVersion(target, version));
  // Wrangler reads the migrations from the checkout.
  await requireUnchangedBuild(build);
  await applyMigrations(rollout);
  const test = target.environment === 'staging' ? smokeTest : testReads;
  const newEndpoint = { ...rollout.oldEndpoint, version };
  const endpointByOverride = { ...newEndpoint, override: `${target.name}="${version}"` };
  // At 0 %, because an override reaches only versions of the newest deployment.
  await deploy(rollout, version, 0);
  await test(endpointByOverride);
  if (holdSeconds > 0) await hold(rollout, endpointByOverride, holdSeconds);
  await deploy(rollout, version, 100);
  await test(newEndpoint);
  // Wrangler reads the routes and crons from the checkout, too.
  await requireUnchangedBuild(build);
  await requireUnchanged(rollout);
  await wrangler(target, 'triggers', 'deploy');
  // Tests again, through the new routes.
  await test(newEndpoint);
  await requireUnchanged(rollout);
  console.log(target.environment, 'serves', version, 'to all.');
}

/**
 * Precedes each change, and what is printed about it.
 *
 * @throws Error if another operator or `undo` has deployed, or an interrupt or the watch of the log has ended the release.
 */
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

async function applyMigrations(rollout: Rollout) {
  const { target } = rollout;
  const TimeTravel = z.object({ bookmark: z.string() });
  const { bookmark } = await readJson(TimeTravel, target, 'd1', 'time-travel', 'info', 'DB');
  const restoreData = commandOf(target, 'd1 time-travel restore DB --bookmark', bookmark);
  await requireUnchanged(rollout);
  console.log('Applying migrations. To restore the data:', restoreData);
  const output = await wrangler(target, 'd1', 'migrations', 'apply', 'DB', '--remote');
  // Wrangler 4.164 exits with 0 also when D1 answers that a statement failed: https://github.com/cloudflare/workers-sdk/issues/3365
  const pending = await readPendingMigrations(target);
  if (pending.length > 0) throw new Error(`migrations failed: ${pending.join(', ')}. ${output}`);
}

/** Gives a version a percentage of the requests, and the rest to the old one. */
async function deploy(rollout: Rollout, version: string, percentage: number) {
  const rest = percentage === 100 ? [] : [`${rollout.old.id}@${100 - percentage}%`];
  const shares = [`${version}@${percentage}%`, ...rest];
  const options = ['--yes', '--message', rollout.releaseId];
  await requireUnchanged(rollout);
  console.log(`Deploying ${version} at ${percentage} %`);
  await wrangler(rollout.target, 'versions', 'deploy', ...shares, ...options);
  rollout.expectedShares = shares.sort().join(' ');
}

/** Watches the log of a version, gives it 10 % of the requests, and tests it every ten seconds. */
async function hold(rollout: Rollout, endpoint: Endpoint, seconds: number) {
  const { target, stop } = rollout;
  await watchErrors(target.environment, endpoint.version, stop);
  await deploy(rollout, endpoint.version, 10);
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    await testReads(endpoint);
    await pause(Math.min(seconds, 10) * 1000, undefined, { signal: stop.signal });
  }
}

/**
 * Serves again what others deployed last, with attempts for ten minutes. Returns the deployment that is served.
 *
 * @param old - the version that others deployed last, as far as is known.
 * @throws Error with the command to run, unless it could confirm that the version of the others is served again.
 */
async function goBack(target: Target, releaseId: string, old?: string): Promise<Deployment> {
  console.log('Going back …');
  let version = old;
  for (const delayMs of ATTEMPTS_MS) {
    await pause(delayMs);
    try {
      const { newest, newestOfOthers } = await readDeployments(target, releaseId);
      // Somebody may have deployed another version than `old`.
      version = soleVersion(newestOfOthers);
      await restore(target, releaseId, newest, newestOfOthers);
      return await readRestored(target, releaseId);
    } catch (error) {
      console.error('error:', safeMessage(error));
    }
  }
  const fix = version
    ? `Run: ${commandOf(target, 'rollback', version)}`
    : 'See "Unfinished releases" in docs/operations.md';
  throw new Error(`could not confirm the rollback. ${fix}`);
}

async function restore(target: Target, releaseId: string, newest: Deployment, others: Deployment) {
  if (sharesOf(newest) === sharesOf(others))
    return console.log('Nothing to undo: the last deployment of others is served, not', releaseId);
  // With this release's id, so that this deployment does not count as one of others.
  const message = ['--yes', '--message', releaseId];
  await wrangler(target, 'rollback', requireOneVersion(others), ...message);
}

/**
 * Returns the deployment that is served. Waits before it reads, because a failed call may take effect late.
 *
 * @throws Error if it is not what others deployed last.
 */
async function readRestored(target: Target, releaseId: string): Promise<Deployment> {
  await pause(SETTLE_MS);
  const { newest, newestOfOthers } = await readDeployments(target, releaseId);
  if (sharesOf(newest) === sharesOf(newestOfOthers)) return newest;
  throw new Error(sentenceOf(target, newest));
}

function sentenceOf({ environment }: Target, deployment: Deployment): string {
  return `${environment} serves ${sharesOf(deployment)}`;
}

/** A command for the operator, which also ignores the files that `rejectOtherConfig` rejects. */
function commandOf({ environment }: Target, command: string, argument: string): string {
  return `npx wrangler ${command} ${argument} --env ${environment} --config wrangler.toml`;
}

/** Goes back from the release with an id, which is the message of its deployments. */
export async function undo(environment: DeployedEnvironment, releaseId: string) {
  // Otherwise, each attempt to go back would fail with this error.
  requireSetUp(environment);
  try {
    rejectOtherConfig();
  } catch (error) {
    // The way back goes on, because its calls name wrangler.toml.
    console.error('warning:', safeMessage(error));
  }
  const target = await readTarget(environment);
  const served = await goBack(target, releaseId);
  console.log(sentenceOf(target, served));
  // Fails if another release is unfinished, or this id was mistyped.
  requireOneVersion(served);
}
