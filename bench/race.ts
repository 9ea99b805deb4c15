/** The store against a bare worker that makes the same platform calls, and against a bare Hono app that makes none. */
import { addPets } from '../ops/sample-data.ts';
import { type Call, OPERATIONS } from './calls.ts';
import { type Duel, type Metric, race } from './load.ts';
import type { Section } from './report.ts';
import { fullRig, quietRig, type Rig, serving } from './rigs.ts';

const PETS = 10_000;
const { listPets, getPet, createPet } = OPERATIONS;
const listPets100: Call = { path: '/v1/pets?limit=100' };

/** Minimum of the store's speed ÷ the bare worker's. */
type Bars = Record<'list' | 'listKv' | 'list100' | 'get' | 'create', number>;
const QUIET: Bars = { list: 0.92, listKv: 1.2, list100: 1, get: 0.9, create: 0.88 };
const FULL: Bars = { list: 0.9, listKv: 1.1, list100: 0.9, get: 0.9, create: 0.85 };

export const raceQuiet = () => raceBare(quietRig, QUIET, 'requests in a second of CPU');
export const raceFull = () => raceBare(fullRig, FULL, 'requests a second');

function raceBare(rig: Rig, bars: Bars, metric: Metric): Promise<Section> {
  return serving(rig, ['src/index.ts', 'bench/workers/bare.ts'], async (store, bare) => {
    for (const { env } of [store, bare]) await addPets(env.DB, PETS);
    const duel = (name: string, call: Call, least: number, prefix = ''): Duel => ({
      name,
      store: { server: store, call },
      other: { server: bare, call: { ...call, path: prefix + call.path } },
      least,
    });
    const duels = [
      duel('list of 20, store ÷ (b)', listPets, bars.list),
      duel('list of 20, store ÷ (c)', listPets, bars.listKv, '/kv'),
      duel('list of 100, store ÷ (b)', listPets100, bars.list100),
      duel('get, store ÷ (b)', getPet, bars.get),
      duel('create, store ÷ (b)', createPet, bars.create),
    ];
    return race(duels, metric, 16, 12);
  });
}

/** With bindings that answer at once. The bars are for the store that does not print its log line. */
export function raceHono(): Promise<Section> {
  const entries = ['bench/workers/instant.ts', 'bench/workers/hono.ts'];
  return serving(quietRig, entries, (store, hono) => {
    const duel = (name: string, call: Call): Duel => ({
      name: `${name}, store ÷ bare Hono`,
      store: { server: store, call },
      other: { server: hono, call },
    });
    const printed = { ...listPets, headers: { 'print-log-line': 'yes' } };
    const duels = [
      { ...duel('list of 20', listPets), most: 2 },
      duel('list of 20 with its log line printed', printed),
      duel('get', getPet),
      { ...duel('create', createPet), most: 2.2 },
    ];
    return race(duels, 'CPU of a request', 8, 125);
  });
}
