/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { type Call, OPERATIONS } from './calls.ts';
import { compare, cpuTime, type Metric, speed, speedByCpu, target } from './load.ts';
import type { Section } from './results.ts';
import { type Runtime, type Server, withServers, workerd, wranglerHarness } from './servers.ts';

const { listPets, getPet, createPet } = OPERATIONS;
const LIST_100: Call = { path: '/v1/pets?limit=100' };
const ENTRIES = ['src/index.ts', 'bench/workers/bare.ts'];

/** Minimums of the store's speed ÷ the bare worker's. */
const WORKERD = { list: 0.92, listKv: 1.2, list100: 1, get: 0.9, create: 0.88 };
const WRANGLER = { list: 0.9, listKv: 1.1, list100: 0.9, get: 0.9, create: 0.85 };

export const compareInWorkerd = () => compareWithBareWorker(workerd, WORKERD, speedByCpu, 61);
export const compareInWrangler = () => compareWithBareWorker(wranglerHarness, WRANGLER, speed, 41);

function compareWithBareWorker(
  runtime: Runtime,
  min: typeof WORKERD,
  metric: Metric,
  rounds: number,
): Promise<Section> {
  const workers = ENTRIES.map((entry) => ({ entry, pets: 10_000 }));
  return withServers(runtime, workers, async (store, bare) => {
    const list = both([store, bare], listPets);
    const listKv = target(bare, { path: `/kv${listPets.path}` });
    const comparisons = [
      { name: 'list of 20', min: min.list, ...list },
      { name: 'list of 20, with KV', min: min.listKv, ...list, baseline: listKv },
      { name: 'list of 100', min: min.list100, ...both([store, bare], LIST_100) },
      { name: 'get', min: min.get, ...both([store, bare], getPet) },
      { name: 'create', min: min.create, ...both([store, bare], createPet) },
    ];
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
