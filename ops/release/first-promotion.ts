/**
 * The first time there is no version to return to. So nobody can reach the worker before it has passed: it is
 * deployed without a route, tested at its workers.dev address, and only then gets its own.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DIST } from './bundle.ts';
import { attachTriggers, deploy, listDeployments, settle } from './cloudflare.ts';
import type { Release } from './identity.ts';
import { migrate } from './migrate.ts';
import type { Promoted } from './promote.ts';
import { ADDRESS_LIMIT_MS, lastSettled, prove, type Served } from './rollout.ts';
import type { Steps } from './steps.ts';
import { readConfig, type Target } from './target.ts';

/** Why the first version is settled on, before it gets its route: from then on clients may be served by it. */
export const UNROUTED = 'tested without a route';

/** Whether production has never had a route from us: nothing is deployed, or versions that never passed. */
export function isFirst({ deployments, versions }: Served): boolean {
  const released = new Set(versions.filter(({ identity }) => identity).map(({ id }) => id));
  const deployed = deployments.flatMap(({ shares }) => shares);
  return !lastSettled(deployments) && deployed.every(({ version }) => released.has(version));
}

export async function promoteFirst(
  target: Target,
  release: Release,
  steps: Steps,
): Promise<Promoted> {
  steps.say('Production has no version yet: it gets its route when this one has been tested.');
  const bookmark = await migrate(target, DIST, steps);
  const version = await orTakeBack(target, steps, async () => {
    const deployed = await steps.take(
      'deploy it without a route',
      async () => deploy(target, { ...release, bookmark }, await writeUnrouted(true)),
      { version: 'the new version', targets: [] },
      ({ version, targets }) => `version ${version} at ${targets.join(', ')}`,
    );
    await proveUnrouted(target, deployed, steps);
    await steps.take(
      'note that it is tested',
      () => settle(target, deployed.version, UNROUTED, bookmark),
      undefined,
    );
    return deployed.version;
  });
  await steps.take('attach routes and crons', () => attachTriggers(target), undefined);
  await prove({ ...target, version }, steps, undefined, ADDRESS_LIMIT_MS);
  await steps.take(
    'note that it is promoted',
    () => settle(target, version, 'promoted', bookmark),
    undefined,
  );
  return { version, previous: null, bookmark };
}

async function proveUnrouted(
  target: Target,
  { version, targets }: { version: string; targets: string[] },
  steps: Steps,
): Promise<void> {
  const host = targets.map((address) => address.replace('https://', '')).find(isWorkersDev);
  if (!steps.dryRun && !host)
    throw new Error('wrangler named no workers.dev address to test it at');
  await prove({ ...target, origin: `https://${host}`, version }, steps, 'at workers.dev');
}

function isWorkersDev(address: string): boolean {
  return /^[^/ ]+\.workers\.dev$/.test(address);
}

/** Takes the worker's address away again when it did not pass. */
async function orTakeBack(
  target: Target,
  steps: Steps,
  deployAndProve: () => Promise<string>,
): Promise<string> {
  try {
    return await deployAndProve();
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    if (steps.dryRun) throw error;
    steps.shield();
    steps.say(`failed: ${failure}`);
    const unreachable = await steps
      .look('take its workers.dev address away', () => hide(target))
      .then(() => 'nobody can reach it')
      .catch((also: Error) => `it may still be reached at workers.dev (${also.message})`);
    throw new Error(`${failure}; production has no version yet, and ${unreachable}`);
  }
}

async function hide(target: Target): Promise<void> {
  if ((await listDeployments(target)).length === 0) return;
  await attachTriggers(target, await writeUnrouted(false));
}

/** Writes wrangler's configuration without routes and crons, for the address at workers.dev or for none. */
async function writeUnrouted(workersDev: boolean): Promise<string> {
  const { env, ...config } = readConfig();
  const none = { routes: [], triggers: { crons: [] } };
  const production = { ...env.production, ...none, workers_dev: workersDev };
  const path = join(DIST, 'wrangler.unrouted.json');
  await writeFile(path, JSON.stringify({ ...config, env: { production } }));
  return path;
}
