/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { OPERATIONS } from './calls.ts';
import { compare } from './load.ts';

const { listPets, getPet, createPet } = OPERATIONS;

/** With local bindings, on ten thousand animals. */
export function compareWithBareWorker() {
  return compare(
    {
      store: 'src/index.ts',
      baseline: 'bench/workers/bare.ts',
      pets: 10_000,
      requestsPerConnection: 12,
    },
    [
      { name: 'list of 20', call: listPets, max: 1.08 },
      { name: 'list of 100', call: { path: '/v1/pets?limit=100' }, max: 1 },
      { name: 'get', call: getPet, max: 1.11 },
      { name: 'create', call: createPet, max: 1.13 },
    ],
  );
}

/** With stub bindings. The store builds its log lines, and does not print them. */
export function compareWithHono() {
  return compare(
    {
      store: 'bench/workers/stubbed.ts',
      baseline: 'bench/workers/hono.ts',
      pets: 0,
      requestsPerConnection: 60,
    },
    [
      { name: 'list of 20', call: listPets, max: 2.3 },
      { name: 'get', call: getPet, max: 2.3 },
      { name: 'create', call: createPet, max: 2.3 },
    ],
  );
}
