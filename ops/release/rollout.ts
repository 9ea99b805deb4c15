/**
 * Rolling a release out: read what is deployed, compute the next step, take it, and repeat. Cloudflare holds the
 * state, so the same loop resumes a roll-out that was killed.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { oneLine } from '../command-line.ts';
import * as cloudflare from './cloudflare.ts';
import { type Build, testPreviousRelease } from './dist.ts';
import * as steps from './next-step.ts';
import { type Store, smokeTest, waitForVersion } from './smoke.ts';

/** A new address needs a DNS record and a certificate first. */
const NEW_ADDRESS_LIMIT_S = 600;
const APPLY = ['d1', 'migrations', 'apply', 'DB', '--remote'];
/** Delays between attempts to return, in seconds. */
const RETURN_PAUSES_S = [1, 2, 5, 15, 30, 30];

/** `say` prints a line for people. `signal` tells a roll-out to return; other commands finish. */
export type Output = { say: (line: string) => void; signal: AbortSignal };
export type Context = Output & { target: cloudflare.Target; store: Store };
/** `waitSeconds`: how long each share is tested. */
export type RollOut = Context & steps.Plan & { release: Build; waitSeconds: number };

/** Starts or resumes a roll-out. @throws Error saying what failed, and what is served now. */
export async function rollOut(options: RollOut) {
  const { target, release, say, signal } = options;
  let deployed = await cloudflare.readDeployed(target);
  const run: steps.Run = { id: randomUUID().slice(0, 8) };
  let bookmark = '';

  async function take(step: steps.Step): Promise<void> {
    if (step.do === 'prepare') {
      ({ pending: run.pending, bookmark } = await prepare(options, deployed));
      return;
    }
    if (step.do === 'test') {
      await testShare(options, step, run.attached ? NEW_ADDRESS_LIMIT_S : undefined);
      run.tested = step.percentage;
      return;
    }
    // Every other step changes something.
    const newest = deployed.deployments.at(-1);
    const found = (await cloudflare.listDeployments(target)).at(-1);
    if (!isDeepStrictEqual(found, newest)) throw new Error('another operator has deployed');
    signal.throwIfAborted();
    if (step.do === 'create worker') {
      say(`Creating ${target.worker}: it answers 503 until its first release has passed its tests`);
      await cloudflare.deployPlaceholder(target, release);
      deployed = await cloudflare.readDeployed(target);
    } else if (step.do === 'upload') {
      say('Uploading the version');
      deployed.versions.push(await cloudflare.uploadVersion(target, release, bookmark));
    } else if (step.do === 'migrate') {
      say(`Applying ${run.pending?.join(', ')}`);
      // Without a time limit: a large table takes long.
      await target.wrangler(APPLY, { config: release.config, limitMs: 0 });
      run.pending = [];
    } else if (step.do === 'attach') {
      say('Attaching routes and crons');
      await target.wrangler(['triggers', 'deploy'], { config: release.config });
      run.attached = true;
    } else if (step.do === 'deploy') {
      const ends = step.message === steps.RETURNED ? ', to end an unfinished release' : '';
      say(`Deploying ${steps.sharesOf(step)} in place of ${steps.sharesOf(newest)}${ends}`);
      await cloudflare.deploy(target, step.shares, step.message);
      deployed.deployments.push(cloudflare.deploymentOf(step.shares, step.message));
    }
  }

  for (;;) {
    const step = steps.nextStep(deployed, options, run);
    if (step.do === 'refuse') throw new Error(`${target.environment}: ${step.because}`);
    if (step.do === 'finish') {
      say(`${target.environment} serves ${step.version} to all.`);
      return { commit: release.commit, digest: release.digest, version: step.version };
    }
    try {
      await take(step);
    } catch (cause) {
      const failure = signal.aborted ? 'interrupted' : oneLine(cause);
      const old = steps.settledVersion(deployed);
      if (!old) throw new Error(failure, { cause });
      say(`Failed: ${failure}`);
      // Only what this run deployed: an earlier run of the same release may still be running.
      const mayReplace = (found: cloudflare.Deployment) => found.run === run.id;
      const serves = await restore(options, old, 'returned', mayReplace).catch(oneLine);
      throw new Error(`${failure}; ${serves}`, { cause });
    }
  }
}

/** Tests pending migrations on the previous release. Changes nothing at Cloudflare. */
async function prepare({ target, release, say }: RollOut, deployed: cloudflare.Deployed) {
  const pending = await cloudflare.pendingMigrations(target, release.folder);
  const settled = steps.settledVersion(deployed);
  const old = deployed.versions.find(({ id }) => id === settled);
  if (pending.length > 0 && !old?.isPlaceholder) {
    const names = pending.join(', ');
    const problem = `this tool did not release the version served, so ${names} cannot be tested on it`;
    if (!old?.release) throw new Error(`${problem}: roll back to a release`);
    say(`Testing the previous release (commit ${old.release.commit.slice(0, 8)}) on ${names}`);
    await testPreviousRelease(old.release, release);
  }
  const bookmark = await cloudflare.readBookmark(target);
  const command = cloudflare.restoreCommand(target, bookmark);
  say(`To restore the database to its state of now (later writes are lost): ${command}`);
  return { pending, bookmark };
}

/** Waits until a version answers at its share, then repeats the smoke test for `waitSeconds`, at least once. */
async function testShare(options: RollOut, share: cloudflare.Share, limitSeconds?: number) {
  const { target, store, waitSeconds, say, signal } = options;
  const { version, percentage } = share;
  say(`Testing ${version.slice(0, 8)} at ${percentage} %`);
  const client = { ...store, signal, version, ...(percentage < 100 && { worker: target.worker }) };
  await waitForVersion(client, limitSeconds);
  const end = Date.now() + waitSeconds * 1000;
  do await smokeTest(client);
  while (Date.now() < end);
}

/**
 * Deploys a version to all, to stay, unless it already is, or the newest deployment may not be replaced. A command can
 * fail after it took effect, so what is deployed is read after each attempt. Returns or throws what is served.
 */
export async function restore(
  { target, say }: Pick<Context, 'target' | 'say'>,
  version: string,
  why: 'returned' | 'rolled back',
  mayReplace: (newest: cloudflare.Deployment) => boolean,
): Promise<string> {
  const { environment } = target;
  const note = (error: unknown) => say(`That failed: ${oneLine(error)}`);
  for (const seconds of [...RETURN_PAUSES_S, 0]) {
    const newest = (await cloudflare.listDeployments(target).catch(note))?.at(-1);
    if (steps.onlyVersion(newest) === version) return `${environment} serves ${version} to all`;
    if (newest && !mayReplace(newest)) {
      const inProgress = `: a release is in progress. ${steps.ending(environment)}`;
      const whose = newest.isStep ? inProgress : ', which another operator deployed';
      throw new Error(`${environment} serves ${steps.sharesOf(newest)}${whose}`);
    }
    if (newest && seconds > 0) {
      say(`Restoring ${version}`);
      const message = `${cloudflare.SETTLED}${why}`;
      await cloudflare.deploy(target, [{ version, percentage: 100 }], message).catch(note);
    }
    await pause(seconds * 1000);
  }
  const command = `npm run release -- rollback ${version} --env ${environment}`;
  throw new Error(`could not restore ${version}: run ${command}`);
}
