/**
 * Rolling a release out: read what is deployed, compute the next step, take it, and repeat. Cloudflare holds the
 * state, so the same loop resumes a roll-out that was killed.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { migrationNames } from '../migrations.ts';
import { byVersion, messageOf, type Store, waitForVersion } from './client.ts';
import * as cloudflare from './cloudflare.ts';
import { type Build, provePreviousRelease } from './dist.ts';
import * as steps from './next-step.ts';
import { smokeTest } from './smoke.ts';
import type { Target } from './target.ts';

/** A new address needs a DNS record and a certificate first. */
const NEW_ADDRESS_LIMIT_S = 600;
/** Delays between attempts to return, in seconds. */
const RETURN_PAUSES_S = [1, 2, 5, 15, 30, 30];

export type Output = {
  /** Prints a line of progress, or of a result for people. */
  say: (line: string) => void;
  /** Aborted when the command is told to stop. */
  signal: AbortSignal;
};

/** `waitSeconds`: how long each share is tested. */
export type RollOut = Output & {
  target: Target;
  plan: steps.Plan & { release: Build };
  store: Store;
  waitSeconds: number;
};

/**
 * Rolls a release out, or resumes a roll-out. After a failure or an interruption it restores the settled version.
 *
 * @throws Error saying what failed, and what is served now.
 */
export async function rollOut(options: RollOut) {
  const { target, plan, say, signal } = options;
  let deployed = await cloudflare.readDeployed(target);
  const previous = steps.settledVersion(deployed) ?? null;
  const run: steps.Run = {};
  /** The last attempted deployment. It may be active although the command failed. */
  let tried: cloudflare.Deployment | undefined;

  async function take(step: steps.Step): Promise<void> {
    if (step.do === 'create worker') {
      say(`Creating the worker ${target.worker}: it answers 503 until its first release is proved`);
      await cloudflare.deployPlaceholder(target);
      deployed = await cloudflare.readDeployed(target);
    } else if (step.do === 'prepare') {
      run.version = await prepare(options, deployed);
    } else if (step.do === 'prove') {
      await prove(options, deployed, step);
      run.proved = step.percentage;
    } else if (step.do === 'deploy') {
      const found = (await cloudflare.listDeployments(target)).at(-1);
      if (!isDeepStrictEqual(found, deployed.deployments.at(-1))) {
        throw new Error('another operator has deployed');
      }
      say(`Deploying ${steps.sharesOf(step)}`);
      tried = cloudflare.deploymentOf(step.shares, step.message);
      await cloudflare.deploy(target, step.shares, step.message);
      deployed = { ...deployed, deployments: [...deployed.deployments, tried] };
    }
  }

  for (;;) {
    const step = steps.nextStep(deployed, plan, run);
    if (step.do === 'refuse') throw new Error(`${target.environment}: ${step.because}`);
    if (step.do === 'finish') {
      say(`${target.environment} serves ${run.version} to all.`);
      const { commit, digest } = plan.release;
      return { commit, digest, version: run.version, previous };
    }
    const old = steps.settledVersion(deployed);
    try {
      signal.throwIfAborted();
      await take(step);
    } catch (cause) {
      const failure = signal.aborted ? 'interrupted' : messageOf(cause);
      if (!old) throw new Error(failure, { cause });
      say(`Failed: ${failure}`);
      const served = await returnTo(options, old, [deployed.deployments.at(-1), tried]).catch(
        (error) => {
          const command = `npm run release -- rollback ${old} --env ${target.environment}`;
          return `an unknown version, as returning failed, too (${messageOf(error)}): run ${command}`;
        },
      );
      throw new Error(`${failure}; ${target.environment} serves ${served}`, { cause });
    }
  }
}

/**
 * Uploads the version, applies pending migrations and attaches routes, skipping completed steps. Returns the
 * version, which receives no requests yet.
 */
async function prepare(options: RollOut, deployed: cloudflare.Deployed): Promise<string> {
  const { target, say } = options;
  const { release } = options.plan;
  const pending = await pendingMigrations(target, release.folder);
  if (pending.length > 0) await proveMigrations(options, deployed, pending.join(', '));
  const uploaded = steps.versionOf(deployed, release);
  const bookmark = uploaded?.release?.bookmark ?? (await cloudflare.readBookmark(target));
  say(`To restore the data of before: ${cloudflare.restoreCommand(target, bookmark)}`);
  if (!uploaded) say('Uploading the version');
  const version = uploaded?.id ?? (await cloudflare.uploadVersion(target, release, bookmark));
  if (pending.length > 0) {
    say(`Applying ${pending.join(', ')}`);
    await cloudflare.wrangler(target, ['d1', 'migrations', 'apply', 'DB', '--remote'], release);
  }
  say('Attaching routes and crons');
  await cloudflare.wrangler(target, ['triggers', 'deploy'], release);
  return version;
}

/** The migrations of a folder that have not run. */
export async function pendingMigrations(target: Target, folder: string): Promise<string[]> {
  const applied = await cloudflare.appliedMigrations(target);
  return (await migrationNames(folder)).filter((name) => !applied.includes(name));
}

/** Proves that what is served works after the migrations, before they are applied. */
async function proveMigrations(
  { plan, say }: RollOut,
  deployed: cloudflare.Deployed,
  pending: string,
): Promise<void> {
  const id = steps.settledVersion(deployed);
  const old = deployed.versions.find((version) => version.id === id);
  if (old?.isPlaceholder) return;
  if (!old?.release) {
    const fix = 'roll back to a release first';
    throw new Error(`version ${id} is not a release, and cannot be tested on ${pending}: ${fix}`);
  }
  say(`Testing the previous release (commit ${old.release.commit.slice(0, 8)}) on ${pending}`);
  await provePreviousRelease(old.release, plan.release);
}

/** Waits until a version answers at its share, then runs the smoke test for some time: at least once. */
async function prove(
  { target, store, waitSeconds, say }: RollOut,
  deployed: cloudflare.Deployed,
  { version, percentage }: { version: string; percentage: number },
): Promise<void> {
  const old = deployed.versions.find(({ id }) => id === steps.settledVersion(deployed));
  const isAlone = percentage === 100;
  const client = isAlone ? { ...store, version } : byVersion(store, target.worker, version);
  say(`Testing ${version.slice(0, 8)} at ${percentage} %`);
  await waitForVersion(client, old?.isPlaceholder ? NEW_ADDRESS_LIMIT_S : undefined);
  const end = Date.now() + waitSeconds * 1000;
  do await smokeTest(client);
  while (Date.now() < end);
}

/**
 * Restores a version for all requests, unless it already serves them or another operator has deployed. Returns a
 * description of what is served. A command can fail after it took effect, so each attempt reads the deployment again.
 */
async function returnTo(
  { target, say }: RollOut,
  version: string,
  own: (cloudflare.Deployment | undefined)[],
): Promise<string> {
  let failure: unknown;
  for (const seconds of [...RETURN_PAUSES_S, undefined]) {
    try {
      const found = (await cloudflare.listDeployments(target)).at(-1);
      if (steps.onlyVersion(found) === version) return `${version} to all`;
      if (!own.some((each) => isDeepStrictEqual(each, found))) {
        return `what another operator deployed: ${steps.sharesOf(found)}`;
      }
      if (seconds === undefined) break;
      say(`Returning to ${version}`);
      await cloudflare.settle(target, version, 'returned');
    } catch (error) {
      if (seconds === undefined) throw error;
      say(`That failed: ${messageOf(error)}`);
      failure = error;
    }
    await pause(seconds * 1000);
  }
  throw new Error('it is not what is served', { cause: failure });
}
