/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { type Call, OPERATIONS } from './calls.ts';
import { compare, target } from './load.ts';
import type { Section } from './results.ts';
import type { Worker } from './servers.ts';

const { listPets, getPet, createPet } = OPERATIONS;
const LIST_100: Call = { path: '/v1/pets?limit=100' };

/** With local bindings. */
export async function compareWithBareWorker(): Promise<Section> {
  const store = { entry: 'src/index.ts', pets: 10_000 };
  const bare = { entry: 'bench/workers/bare.ts', pets: 10_000 };
  const list = both(store, bare, listPets);
  const listKv = target(bare, { path: `/kv${listPets.path}` });
  const comparisons = [
    { name: 'list of 20', max: 1.08, ...list },
    { name: 'list, bare with KV', max: 0.83, ...list, baseline: listKv },
    { name: 'list of 100', max: 1, ...both(store, bare, LIST_100) },
    { name: 'get', max: 1.11, ...both(store, bare, getPet) },
    { name: 'create', max: 1.13, ...both(store, bare, createPet) },
  ];
  const load = { warmUpRounds: 6, rounds: 8, connections: 16, count: 12 };
  return { figures: await compare(comparisons, load) };
}

/** The same request to both workers. */
const both = (store: Worker, baseline: Worker, call: Call) => ({
  store: target(store, call),
  baseline: target(baseline, call),
});

/** With stub bindings. The store builds its log lines, and does not print them. */
export async function compareWithHono(): Promise<Section> {
  const [store, hono] = [{ entry: 'bench/workers/stubbed.ts' }, { entry: 'bench/workers/hono.ts' }];
  const comparisons = [
    { name: 'list of 20', max: 2.3, ...both(store, hono, listPets) },
    { name: 'get', ...both(store, hono, getPet) },
    { name: 'create', max: 2.3, ...both(store, hono, createPet) },
  ];
  const load = { warmUpRounds: 6, rounds: 8, connections: 8, count: 125 };
  return { figures: await compare(comparisons, load) };
}
