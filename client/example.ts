/**
 * Calling the store from TypeScript: `node client/example.ts` runs this against the store that `npm start` serves.
 * Outside this repository the import is `from 'animal-store-client'`.
 */
import { parseArgs } from 'node:util';
import { createAnimalStore, StoreError } from './src/index.ts';

const USAGE = 'usage: node client/example.ts [--url https://…/v1 --key <API_KEY>]';
const DEFAULTS = {
  url: { type: 'string', default: 'http://localhost:8787/v1' },
  // The key that every local store accepts.
  key: { type: 'string', default: 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP' },
  help: { type: 'boolean', default: false },
} as const;

try {
  const { url, key, help } = parseArgs({ options: DEFAULTS }).values;
  if (help) console.log(USAGE);
  else await addAndList(url, key);
} catch (error) {
  if (error instanceof StoreError && error.code === 'network_error')
    console.error('No store answers there. Start one with: npm start');
  else if (error instanceof StoreError) console.error(`${error.code}: ${error.message}`);
  else if (error instanceof TypeError) console.error(`${error.message}\n${USAGE}`);
  else throw error;
  process.exitCode = 1;
}

async function addAndList(baseUrl: string, apiKey: string): Promise<void> {
  const store = createAnimalStore({ baseUrl, apiKey });
  // 9007199254740993 is past 2^53: a JavaScript number would round it.
  const rex = await store.createPet({
    name: 'Rex',
    categoryId: 9007199254740993n,
    status: 'available',
  });
  console.log(`added ${rex.name}, whose id is ${rex.id}, of category ${rex.categoryId}`);

  // `for await (const pet of store.listPets())` reads all.
  const pets = await store.listPets({ status: 'available' }).toArray({ max: 10 });
  for (const pet of pets) console.log(`${pet.id}\t${pet.name}`);
}
