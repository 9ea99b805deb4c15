/** client/README.md, and the rows of its table of methods. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';

export const README = readFileSync(join(PROJECT_ROOT, 'client/README.md'), 'utf8');

export const METHODS = Array.from(
  README.matchAll(/^\| `(\w+)` +\| `(\w+ [^`]+)` +\| (yes|no) /gm),
  ([, method = '', request = '', repeated]) => ({ method, request, repeated }),
);

/** What a user of any runtime and compiler writes. */
export const CONSUMER = `
  import { createAnimalStore, StoreError } from 'animal-store-client';
  const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey: 'key', fetch });
  export const { id, status } = await store.createPet({ name: 'Rex', categoryId: 3n });
  id satisfies bigint;
  await store.updatePet(id, { status });
  for await (const pet of store.listPets({ status: 'sold' })) pet.id satisfies bigint;
  export const isFine = (error: unknown) => error instanceof StoreError && error.cause === undefined;`;
