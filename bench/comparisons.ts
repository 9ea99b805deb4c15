/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { type Call, OPERATIONS } from './calls.ts';
import { compare, cpuTime, type Metric, speed, speedByCpu, target } from './load.ts';
import type { Section } from './results.ts';
import { type Runtime, type Server, withServers, workerd, wranglerHarness } from './servers.ts';

const { listPets, getPet, createPet } = OPERATIONS;
const ENTRIES = ['src/index.ts', 'bench/workers/bare.ts'];

/** Minimums of the store's speed ÷ the bare worker's, in the order of the comparisons below. */
const WORKERD = [0.92, 1.2, 1, 0.9, 0.88];
const WRANGLER = [0.9, 1.1, 0.9, 0.9, 0.85];

export const compareInWorkerd = () => compareWithBareWorker(workerd, WORKERD, speedByCpu, 61);
export const compareInWrangler = () => compareWithBareWorker(wranglerHarness, WRANGLER, speed, 41);

function compareWithBareWorker(
  runtime: Runtime,
  minimums: number[],
  metric: Metric,
  rounds: number,
): Promise<Section> {
  const workers = ENTRIES.map((entry) => ({ entry, pets: 10_000 }));
  return withServers(runtime, workers, async (store, bare) => {
    const list = both([store, bare], listPets);
    const comparisons = [
      { name: 'list of 20', ...list },
      {
        name: 'list of 20, with KV',
        ...list,
        baseline: target(bare, { path: '/kv/v1/pets?limit=20' }),
      },
      { name: 'list of 100', ...both([store, bare], { path: '/v1/pets?limit=100' }) },
      { name: 'get', ...both([store, bare], getPet) },
      { name: 'create', ...both([store, bare], createPet) },
    ].map((each, i) => ({ ...each, min: minimums[i] ?? Number.NaN }));
    const load = { warmUpRounds: 10, rounds, connections: 16, count: 12 };
    return { figures: await compare(comparisons, metric, load) };
  });
}

/** The same request to both servers. */
const both = ([store, baseline]: [Server, Server], call: Call) => ({
  store: target(store, call),
  baseline: target(baseline, call),
});

/** With stub bindings. The store builds its log lines, and does not print them. */
export function compareWithHono(): Promise<Section> {
  const workers = [{ entry: 'bench/workers/stubbed.ts' }, { entry: 'bench/workers/hono.ts' }];
  return withServers(workerd, workers, async (store, hono) => {
    const comparisons = [
      { name: 'list of 20', max: 2.3, ...both([store, hono], listPets) },
      { name: 'get', ...both([store, hono], getPet) },
      { name: 'create', max: 2.3, ...both([store, hono], createPet) },
    ];
    const load = { warmUpRounds: 10, rounds: 81, connections: 8, count: 125 };
    return { figures: await compare(comparisons, cpuTime, load) };
  });
}
