/** The store against a bare worker that makes the same platform calls, and against a bare Hono app that makes none. */
import { addPets } from '../ops/sample-data.ts';
import { OPERATIONS } from './calls.ts';
import { type Load, type Metric, race } from './load.ts';
import type { Section } from './results.ts';
import { quietRig, type Rig, serving } from './rigs.ts';

const PETS = 10_000;
const { listPets, getPet, createPet } = OPERATIONS;
const LIST = 'store, list of 20';
const LIST_100 = 'store, list of 100';
const GET = 'store, get';
const CREATE = 'store, create';

/** Minimum of the store's speed, divided by that of the bare worker. */
export type Bars = Record<'list' | 'listKv' | 'list100' | 'get' | 'create', number> & {
  metric: Metric;
};

export function raceBare(rig: Rig, bars: Bars, load: Load): Promise<Section> {
  return serving(rig, ['src/index.ts', 'bench/workers/bare.ts'], async (store, bare) => {
    for (const { env } of [store, bare]) await addPets(env.DB, PETS);
    const ofBare = (name: string, path: string, of: string, least: number) => ({
      ...{ name, server: bare, call: { path }, store: of, least, metric: bars.metric },
    });
    const create = ofBare('(b) create', '/create', CREATE, bars.create);
    return race(
      [
        { name: LIST, server: store, call: listPets },
        ofBare('(b) list of 20', '/list?limit=20', LIST, bars.list),
        ofBare('(c) list of 20', '/kv/list?limit=20', LIST, bars.listKv),
        { name: LIST_100, server: store, call: { path: '/v1/pets?limit=100' } },
        ofBare('(b) list of 100', '/list?limit=100', LIST_100, bars.list100),
        { name: GET, server: store, call: getPet },
        ofBare('(b) get', '/get/4', GET, bars.get),
        { name: CREATE, server: store, call: createPet, status: 201 },
        { ...create, call: { ...createPet, path: '/create' }, status: 201 },
      ],
      load,
    );
  });
}

/** With bindings that answer at once. */
export function raceHono(load: Load): Promise<Section> {
  const entries = ['bench/workers/instant.ts', 'bench/workers/hono.ts'];
  return serving(quietRig, entries, (store, hono) => {
    const noKey = { ...listPets, headers: { authorization: '' } };
    return race(
      [
        { name: LIST, server: store, call: listPets },
        { name: 'bare Hono, list of 20', server: hono, call: listPets, store: LIST, most: 2 },
        { name: GET, server: store, call: getPet },
        { name: 'bare Hono, get', server: hono, call: getPet, store: GET },
        { name: CREATE, server: store, call: createPet, status: 201 },
        {
          ...{ name: 'bare Hono, create', server: hono, call: createPet, status: 201 },
          ...{ store: CREATE, most: 2.2 },
        },
        { name: 'store, refused: no key', server: store, call: noKey, status: 401 },
      ],
      load,
    );
  });
}
