/**
 * Calling the store from TypeScript: `npm run example` runs this against the store that `npm start` serves.
 * Outside this repository the import is `from 'animal-store-client'`.
 */
import { parseArgs } from 'node:util';
import { createAnimalStore, StoreError } from './src/index.ts';

const USAGE = 'usage: npm run example -- [--url https://…/v1 --key <API_KEY>]';

try {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'http://localhost:8787/v1' },
      // The key that every local store accepts.
      key: { type: 'string', default: 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) console.log(USAGE);
  else await addAndList(values.url, values.key);
} catch (error) {
  // An invalid argument: `parseArgs` and the client throw a TypeError.
  if (!(error instanceof TypeError)) throw error;
  console.error(`error: ${error.message.split('\n')[0]}`);
  process.exitCode = 2;
}

async function addAndList(baseUrl: string, apiKey: string): Promise<void> {
  const store = createAnimalStore({ baseUrl, apiKey });
  try {
    // 9007199254740993 is past 2^53: a JavaScript number would round it.
    const rex = await store.createPet({
      name: 'Rex',
      categoryId: 9007199254740993n,
      status: 'available',
    });
    console.log(`added ${rex.name}, whose id is ${rex.id}, of category ${rex.categoryId}`);

    // `for await (const pet of store.listPets())` would read all.
    const pets = await store.listPets({ status: 'available' }).toArray({ max: 10 });
    for (const pet of pets) console.log(`${pet.id}\t${pet.name}`);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    console.error(
      error.code === 'network_error'
        ? `No store answers at ${baseUrl}. Start one with: npm start`
        : `${error.code}: ${error.message}`,
    );
    process.exitCode = 1;
  }
}
