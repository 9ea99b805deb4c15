/** Compares the store with a bare worker that makes the same platform calls, and with a bare Hono app that makes none. */
import { OPERATIONS } from './calls.ts';
import { compare } from './load.ts';
import { build } from './servers.ts';

/** The store with stub bindings. */
export const STUBBED = 'bench/workers/stubbed.ts';

const { listPets, getPet, createPet } = OPERATIONS;

/** With local bindings, on ten thousand animals. */
export async function compareWithBareWorker() {
  return compare(
    {
      store: await build('src/index.ts'),
      baseline: await build('bench/workers/bare.ts'),
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

export async function compareWithHono() {
  return compareWithoutPlatform(await build('bench/workers/hono.ts'), 2.3);
}

/** With stub bindings. The store builds its log lines, and does not print them. */
export async function compareWithoutPlatform(baseline: string, max: number) {
  return compare({ store: await build(STUBBED), baseline, pets: 0, requestsPerConnection: 60 }, [
    { name: 'list of 20', call: listPets, max },
    { name: 'get', call: getPet, max },
    { name: 'create', call: createPet, max },
  ]);
}
