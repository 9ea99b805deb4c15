/** Queries need no request: a cron can run them. */
import { expect, test } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { Database } from '../../src/d1/database.ts';
import { createPet, listPets } from '../../src/pets/queries.ts';
import { pets } from '../../src/pets/routes.ts';
import { stopTime } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';
import { headersOf, stubBindings } from '../support/stubs.ts';

const store = startStore();

test('a cron adds and lists animals', async () => {
  const db = new Database(store.bindings().DB);
  const pet = await createPet(db, {}, { name: 'Rex', categoryId: 2n ** 53n + 1n });
  expect(await listPets(db, { limit: 20 })).toEqual([pet]);
});

test('the routes of a resource alone respond with the Error body while D1 fails', async () => {
  stopTime();
  const bindings = stubBindings((binding, value) =>
    binding === 'KV'
      ? Promise.resolve(value)
      : Promise.reject(new Error('Network connection lost.')),
  );
  const headers = headersOf({ path: '' }, generateKey('production'));
  const response = await pets.request('/pets', { headers }, bindings);
  expect(await response.json()).toMatchObject({ code: 'service_unavailable', status: 503 });
});
