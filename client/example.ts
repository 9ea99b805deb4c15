/**
 * Calling the store from TypeScript: `npm run example` runs this against the store that `npm start` serves.
 * Outside this repository the import is `from 'animal-store-client'`.
 */
import { parseArgs } from 'node:util';
import { createAnimalStore, StoreError } from './src/index.ts';

const USAGE = 'usage: [STORE_API_KEY=<API_KEY>] npm run example -- [--url https://…/v1]';

// The key is not an argument: every user of the machine can list arguments. Every local store accepts the default.
const { STORE_API_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP' } = process.env;

try {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: 'http://localhost:8787/v1' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) console.log(USAGE);
  else await addAndList(values.url, STORE_API_KEY);
} catch (error) {
  // An invalid argument or key: `parseArgs` and the client throw a TypeError. That of `parseArgs` quotes the argument.
  if (!(error instanceof TypeError)) throw error;
  console.error('code' in error ? USAGE : `error: ${error.message}`);
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
        ? `No store answers at ${baseUrl}. Start one with npm start, or name another with --url`
        : `${error.code}: ${error.message}`,
    );
    process.exitCode = 1;
  }
}
