/** What `staging`, `promote` and `rollback` do alike to what an environment serves. */
import { checkUp, clientOf, type Subject } from './checkup.ts';
import { pause } from './client.ts';
import {
  type Deployment,
  listDeployments,
  listVersions,
  settle,
  type Version,
} from './cloudflare.ts';
import { untilAnswers } from './probes.ts';
import type { Steps } from './steps.ts';
import type { Target } from './target.ts';

/** By then a change has spread over Cloudflare's network, or something is wrong. */
export const SPREAD_LIMIT_MS = 60_000;
/** A new address needs a DNS record and a certificate first. */
export const ADDRESS_LIMIT_MS = 600_000;
/** Returning is tried again after each of these: an API that fails now may answer soon. */
const RETURN_PAUSES_MS = [1_000, 2_000, 5_000, 15_000, 30_000];

export type Served = { deployments: Deployment[]; versions: Version[] };

/** What an environment serves, has served, and could: nothing when the worker does not exist. */
export async function readServed(target: Target): Promise<Served> {
  const [deployments, versions] = await Promise.all([
    listDeployments(target),
    listVersions(target),
  ]);
  return { deployments, versions };
}

/** Reads that as a step. */
export function lookAtServed(target: Target, steps: Steps): Promise<Served> {
  return steps.look(
    `read what ${target.environment} serves`,
    () => readServed(target),
    ({ deployments }) => sharesInWords(deployments.at(-1)),
  );
}

/** The version that is deployed alone, if one is. (At 0 % another can still be asked for by name.) */
export function servesAll(deployment: Deployment | undefined): string | undefined {
  const [only, ...others] = deployment?.shares ?? [];
  return others.length === 0 ? only?.version : undefined;
}

/** The newest deployment that was to stay. */
export function lastSettled(deployments: Deployment[]): Deployment | undefined {
  return deployments.findLast(({ settled }) => settled !== undefined);
}

/**
 * The version to return to. What was settled on, or deployed by other means, is somebody's decision; a step of
 * ours, and a version that we deployed and never settled on, are not: then it is what was settled on before.
 */
export function stableVersion(served: Served): string | undefined {
  const newest = served.deployments.at(-1);
  return servesAll(isUnfinished(served) ? lastSettled(served.deployments) : newest);
}

/** Whether the newest deployment is on the way of a roll-out of ours. */
export function isUnfinished({ deployments, versions }: Served): boolean {
  const newest = deployments.at(-1);
  if (!newest || newest.settled !== undefined) return false;
  const alone = servesAll(newest);
  const isReleased = versions.some(({ id, identity }) => id === alone && identity !== undefined);
  return newest.step || (isReleased && !isSettledOn(alone, deployments));
}

/** Whether one of these deployments was to stay with this version. */
export function isSettledOn(version: string | undefined, deployments: Deployment[]): boolean {
  return deployments.some(
    (deployment) => deployment.settled !== undefined && servesAll(deployment) === version,
  );
}

/** Waits until a version answers, then smoke-tests it; `where` says in words how it is asked. */
export async function prove(
  subject: Subject & { version: string },
  steps: Steps,
  where = `at ${subject.baseUrl}`,
  limitMs = SPREAD_LIMIT_MS,
): Promise<void> {
  const { version } = subject;
  const client = clientOf(subject, steps.signal);
  await steps.take(
    `wait for ${short(version)} to answer ${where}`,
    () => untilAnswers(client, version, limitMs, steps.signal),
    undefined,
  );
  await takeSmokeTest(subject, steps);
}

/** Runs the smoke test as a step. */
export async function takeSmokeTest(subject: Subject, steps: Steps): Promise<void> {
  await steps.take(
    'smoke test',
    () => checkUp(subject, steps.signal),
    [],
    (checks) => `${checks.length} checks`,
  );
}

/**
 * Runs a roll-out. When it fails, or is interrupted, looks at what is deployed, and returns to the old version by
 * its name if that is still the roll-out's own doing.
 *
 * @throws Error saying what failed, and what is served now.
 */
export async function orReturn(
  target: Target,
  old: string | undefined,
  isOwn: (deployment: Deployment) => boolean,
  steps: Steps,
  rollOut: () => Promise<void>,
): Promise<void> {
  try {
    await rollOut();
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    if (steps.dryRun || !old) throw error;
    // What is begun here is finished, whoever presses Ctrl-C.
    steps.shield();
    steps.say(`failed: ${failure}`);
    const served = await steps
      .look(
        `return to ${short(old)}`,
        () => returnTo(target, old, isOwn),
        (result) => result,
      )
      .catch((also: Error) => {
        const command = `npm run release -- rollback ${old} --env ${target.environment}`;
        throw new Error(`${failure}; returning failed, too (${also.message}): run ${command}`);
      });
    throw new Error(`${failure}; ${target.environment} serves ${served}`);
  }
}

/**
 * Deploys the old version to all, unless it is. A command may have failed after it took effect, so the status
 * tells; and as the API may fail again, it is asked for some time.
 */
async function returnTo(
  target: Target,
  old: string,
  isOwn: (deployment: Deployment) => boolean,
): Promise<string> {
  let failure: unknown = new Error('it is not what is served');
  for (const wait of [0, ...RETURN_PAUSES_MS]) {
    await pause(wait);
    try {
      const before = (await listDeployments(target)).at(-1);
      if (servesAll(before) === old) return `the old version, ${old}, to all`;
      if (before && !isOwn(before))
        return `what others deployed meanwhile: ${sharesInWords(before)}`;
      await settle(target, old, 'returned');
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Such as `10 % 1b4e28ba, 90 % 6fa459ea`. */
export function sharesInWords(deployment: Deployment | undefined): string {
  if (!deployment) return 'nothing';
  return deployment.shares
    .map(({ version, percentage }) => `${percentage} % ${short(version)}`)
    .join(', ');
}

/** The beginning of an id; of words, as a dry run has them, all. */
export function short(id: string): string {
  return id.includes(' ') ? id : id.slice(0, 8);
}
