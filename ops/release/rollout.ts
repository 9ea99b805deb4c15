/** What `staging`, `promote` and `rollback` do alike to what an environment serves. */
import { checkUp } from './checkup.ts';
import { createClient } from './client.ts';
import {
  type Deployment,
  deployVersions,
  listDeployments,
  listVersions,
  type Share,
  type Version,
} from './cloudflare.ts';
import { untilAnswers } from './probes.ts';
import type { Steps } from './steps.ts';
import type { Target } from './target.ts';

/** By then a change has spread over Cloudflare's network, or something is wrong. */
export const SPREAD_LIMIT_MS = 60_000;
/** A new address needs a DNS record and a certificate first. */
export const ADDRESS_LIMIT_MS = 600_000;

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
    ({ deployments }) => inWords(deployments.at(-1)),
  );
}

/** Waits until a version answers at the base address, then smoke-tests it. */
export async function prove(
  target: Target,
  version: string,
  steps: Steps,
  limitMs = SPREAD_LIMIT_MS,
): Promise<void> {
  const client = createClient({ origin: new URL(target.baseUrl).origin, signal: steps.signal });
  const { baseUrl } = target;
  await steps.take(
    `wait for ${short(version)} to answer at ${baseUrl}`,
    () => untilAnswers(client, version, limitMs, steps.signal),
    undefined,
  );
  await steps.take(
    'smoke test',
    () => checkUp({ ...target, version }, steps.signal),
    [],
    (checks) => `${checks.length} checks`,
  );
}

/**
 * Runs a roll-out. When it fails, or is interrupted, looks at what is deployed and returns to the old
 * version by its name.
 *
 * @throws Error saying what failed, and what is served now.
 */
export async function orReturn(
  target: Target,
  old: string | undefined,
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
    const served = await returnTo(target, old, steps).catch((also: Error) => {
      const command = `npm run release -- rollback ${old} --env ${target.environment}`;
      throw new Error(`${failure}; returning to ${old} failed, too (${also.message}): ${command}`);
    });
    throw new Error(`${failure}; ${target.environment} serves ${served}`);
  }
}

/** Deploys the old version to all again, unless it is. A command may have failed after it took effect. */
async function returnTo(target: Target, old: string, steps: Steps): Promise<string> {
  const status = () => listDeployments(target).then((deployments) => deployments.at(-1));
  const all = [{ version: old, percentage: 100 }];
  const before = await steps.look('read what is deployed', status, (found) => inWords(found));
  if (servesAll(before) !== old) {
    await steps
      .look(`return to ${short(old)}`, () =>
        deployVersions(target, all, 'return to the old version'),
      )
      // The status tells, not wrangler.
      .catch(() => undefined);
  }
  const after = await steps.look('read it again', status, (found) => inWords(found));
  if (servesAll(after) !== old) throw new Error(`it serves ${inWords(after)}`);
  return `the old version, ${old}, to all`;
}

/** The version that is deployed alone, if one is. (At 0 % another can still be asked for by name.) */
export function servesAll(deployment: Deployment | undefined): string | undefined {
  const [only, ...others] = deployment?.shares ?? [];
  return others.length === 0 ? only?.version : undefined;
}

/**
 * The version that was there before ours: the newest one that served at least half of the requests; of two
 * that shared them evenly the older one.
 */
export function oldVersion(
  deployments: Deployment[],
  versions: Version[],
  ours: string | undefined,
): string | undefined {
  const age = ({ version }: Share) => versions.findIndex(({ id }) => id === version);
  return deployments
    .toReversed()
    .flatMap(({ shares }) => shares.toSorted((a, b) => age(a) - age(b)))
    .find(({ version, percentage }) => version !== ours && percentage >= 50)?.version;
}

/** Such as `100 % 1b4e28ba`. */
export function inWords(deployment: Deployment | undefined): string {
  if (!deployment) return 'nothing';
  const shares = deployment.shares.map(
    ({ version, percentage }) => `${percentage} % ${short(version)}`,
  );
  return shares.join(', ');
}

export function short(id: string): string {
  return id.slice(0, 8);
}
