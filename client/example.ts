/**
 * Calling the store from TypeScript: `npm run example` runs this against a local store. Outside this
 * repository the import is `from 'animal-store-client'`.
 */
import { createAnimalStore, StoreError } from './src/index.ts';

// The key that every local store knows.
const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';
const [baseUrl = 'http://localhost:8787/v1', apiKey = LOCAL_KEY] = process.argv.slice(2);

try {
  const store = createAnimalStore({ baseUrl, apiKey });
  // 9007199254740993 is past 2^53: a JavaScript number would round it.
  const rex = await store.createPet({
    name: 'Rex',
    categoryId: 9007199254740993n,
    status: 'available',
  });
  console.log(`added ${rex.name}, whose id is ${rex.id}, of category ${rex.categoryId}`);

  for await (const pet of store.listPets({ status: 'available', limit: 100 })) {
    console.log(`${pet.id}\t${pet.name}`);
  }
} catch (error) {
  if (!(error instanceof StoreError || error instanceof TypeError)) throw error;
  const isUnreachable = error instanceof StoreError && error.code === 'network_error';
  console.error(
    isUnreachable
      ? `No store answers at ${baseUrl}. Start one with: npm start`
      : error instanceof StoreError
        ? `${error.code}: ${error.message}`
        : error.message,
  );
  process.exitCode = 1;
}
