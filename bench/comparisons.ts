/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { addPets } from '../ops/local/sample-data.ts';
import { type Call, OPERATIONS } from './calls.ts';
import { type Comparison, compare, type Metric } from './load.ts';
import type { Section } from './report.ts';
import { type Runtime, withServers, workerd, wranglerHarness } from './servers.ts';

const PETS = 10_000;
const { listPets, getPet, createPet } = OPERATIONS;
const listPets100: Call = { path: '/v1/pets?limit=100' };

/** Minimum of the store's speed ÷ the bare worker's. */
type Minimums = Record<'list' | 'listKv' | 'list100' | 'get' | 'create', number>;
const WORKERD: Minimums = { list: 0.92, listKv: 1.2, list100: 1, get: 0.9, create: 0.88 };
const WRANGLER: Minimums = { list: 0.9, listKv: 1.1, list100: 0.9, get: 0.9, create: 0.85 };

export const compareInWorkerd = () => compareWithBare(workerd, WORKERD, 'requests per CPU second');
export const compareInWrangler = () => compareWithBare(wranglerHarness, WRANGLER, 'requests/s');

function compareWithBare(runtime: Runtime, minimums: Minimums, metric: Metric) {
  const entries = ['src/index.ts', 'bench/workers/bare.ts'];
  return withServers(runtime, entries, async (store, bare) => {
    for (const { env } of [store, bare]) await addPets(env.DB, PETS);
    const comparison = (name: string, call: Call, min: number, prefix = ''): Comparison => ({
      name,
      store: { server: store, call },
      baseline: { server: bare, call: { ...call, path: prefix + call.path } },
      min,
    });
    const comparisons = [
      comparison('list of 20, store ÷ bare worker', listPets, minimums.list),
      comparison('list of 20, store ÷ bare worker with KV', listPets, minimums.listKv, '/kv'),
      comparison('list of 100, store ÷ bare worker', listPets100, minimums.list100),
      comparison('get, store ÷ bare worker', getPet, minimums.get),
      comparison('create, store ÷ bare worker', createPet, minimums.create),
    ];
    return compare(comparisons, metric, { rounds: 81, connections: 16, count: 12 });
  });
}

/** With stub bindings. The thresholds are for the store without printing its log line. */
export function compareWithHono(): Promise<Section> {
  const entries = ['bench/workers/stubbed.ts', 'bench/workers/hono.ts'];
  return withServers(workerd, entries, (store, hono) => {
    const comparison = (name: string, call: Call): Comparison => ({
      name: `${name}, store ÷ bare Hono`,
      store: { server: store, call },
      baseline: { server: hono, call },
    });
    const printed = { ...listPets, headers: { 'print-log-line': 'yes' } };
    const comparisons = [
      { ...comparison('list of 20', listPets), max: 2 },
      comparison('list of 20 with its log line printed', printed),
      comparison('get', getPet),
      { ...comparison('create', createPet), max: 2.2 },
    ];
    return compare(comparisons, 'CPU per request', { rounds: 101, connections: 8, count: 125 });
  });
}
