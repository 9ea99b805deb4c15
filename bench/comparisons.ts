/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { OPERATIONS } from './calls.ts';
import { compare } from './load.ts';
import type { Section } from './results.ts';
import { withServers } from './servers.ts';

const { listPets, getPet, createPet } = OPERATIONS;
const LIST_100 = { path: '/v1/pets?limit=100' };

/** With local bindings, on ten thousand animals. */
export function compareWithBareWorker(): Promise<Section> {
  return withServers(['src/index.ts', 'bench/workers/bare.ts'], 10_000, async (store, bare) => ({
    figures: [
      await compare(store, bare, 12, { name: 'list of 20', call: listPets, max: 1.08 }),
      await compare(store, bare, 12, { name: 'list of 100', call: LIST_100, max: 1 }),
      await compare(store, bare, 12, { name: 'get', call: getPet, max: 1.11 }),
      await compare(store, bare, 12, { name: 'create', call: createPet, max: 1.13 }),
    ],
  }));
}

/** With stub bindings. The store builds its log lines, and does not print them. */
export function compareWithHono(): Promise<Section> {
  const entries = ['bench/workers/stubbed.ts', 'bench/workers/hono.ts'];
  return withServers(entries, 0, async (store, hono) => ({
    figures: [
      await compare(store, hono, 60, { name: 'list of 20', call: listPets, max: 2.3 }),
      await compare(store, hono, 60, { name: 'get', call: getPet }),
      await compare(store, hono, 60, { name: 'create', call: createPet, max: 2.3 }),
    ],
  }));
}
