/**
 * The first time there is no version to return to. So nobody can reach the worker before it has passed: it is
 * deployed without a route, tested at its workers.dev address, and only then gets its own.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DIST, type Manifest } from './bundle.ts';
import { checkUp } from './checkup.ts';
import { createClient } from './client.ts';
import {
  attachTriggers,
  type Deployment,
  deploy,
  deployVersions,
  isOurs,
  type Version,
} from './cloudflare.ts';
import { identify } from './identity.ts';
import { migrate } from './migrate.ts';
import { untilAnswers } from './probes.ts';
import { ADDRESS_LIMIT_MS, prove, SPREAD_LIMIT_MS } from './rollout.ts';
import type { Steps } from './steps.ts';
import { readConfig, type Target } from './target.ts';

/**
 * Whether production is without a route: nothing was ever deployed, or first promotions that did not come to
 * their end, which is a deployment of ours.
 */
export function wasNeverRouted(deployments: Deployment[], versions: Version[]): boolean {
  const unrouted = new Set(
    versions.filter(({ identity }) => identity?.routes === 'none').map(({ id }) => id),
  );
  return deployments.every(
    (deployment) =>
      !isOurs(deployment) && deployment.shares.every(({ version }) => unrouted.has(version)),
  );
}

export async function promoteFirst(target: Target, manifest: Manifest, steps: Steps) {
  steps.say('Production has no version yet: it gets its route when this one has been tested.');
  const bookmark = await migrate(target, DIST, steps);
  const identity = { ...(await identify(manifest, bookmark)), routes: 'none' as const };
  let version = '';
  try {
    const deployed = await steps.take(
      'deploy it without a route',
      async () => deploy(target, identity, await writeUnrouted(true)),
      { version: 'the new version', targets: [] },
      ({ version, targets }) => `version ${version} at ${targets.join(', ')}`,
    );
    ({ version } = deployed);
    await proveUnrouted(target, version, deployed.targets, steps);
    await steps.take('attach routes and crons', () => attachTriggers(target), undefined);
    await prove(target, version, steps, ADDRESS_LIMIT_MS);
    await steps.take(
      'note that it has its route',
      () => deployVersions(target, [{ version, percentage: 100 }], 'routes attached'),
      undefined,
    );
  } catch (error) {
    if (steps.dryRun || version === '') throw error;
    const failure = error instanceof Error ? error.message : String(error);
    steps.shield();
    steps.say(`failed: ${failure}`);
    await steps.look('take its workers.dev address away', async () =>
      attachTriggers(target, await writeUnrouted(false)),
    );
    throw new Error(`${failure}; the first promotion is not complete: run it again when mended`);
  }
  const { commit, 'index.js': index } = manifest;
  return { commit, 'index.js': index, version, previous: null, bookmark };
}

async function proveUnrouted(
  target: Target,
  version: string,
  targets: string[],
  steps: Steps,
): Promise<void> {
  const { signal } = steps;
  const host = targets.map((address) => address.replace('https://', '')).find(isWorkersDev);
  if (!steps.dryRun && !host)
    throw new Error('wrangler named no workers.dev address to test it at');
  const origin = `https://${host}`;
  await steps.take(
    'wait until it answers there',
    () => untilAnswers(createClient({ origin, signal }), version, SPREAD_LIMIT_MS, signal),
    undefined,
  );
  await steps.take(
    'smoke test there',
    () => checkUp({ ...target, origin, version }, signal),
    [],
    (checks) => `${checks.length} checks`,
  );
}

function isWorkersDev(address: string): boolean {
  return /^[^/ ]+\.workers\.dev$/.test(address);
}

/** Writes wrangler's configuration without routes and crons, for the address at workers.dev or for none. */
async function writeUnrouted(workersDev: boolean): Promise<string> {
  const { env, ...config } = readConfig();
  const production = {
    ...env.production,
    workers_dev: workersDev,
    routes: [],
    triggers: { crons: [] },
  };
  const path = join(DIST, 'wrangler.unrouted.json');
  await writeFile(path, JSON.stringify({ ...config, env: { production } }));
  return path;
}
