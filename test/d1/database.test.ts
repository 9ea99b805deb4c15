/** Queries need no request: a cron can run them. */
import { expect, test } from 'vitest';
import { Database } from '../../src/d1/database.ts';
import { createPet, listPets } from '../../src/pets/queries.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

test('a cron adds and lists animals', async () => {
  const db = new Database(store.bindings().DB);
  const pet = await createPet(db, {}, { name: 'Rex', categoryId: 2n ** 53n + 1n });
  expect(await listPets(db, { limit: 20 })).toEqual([pet]);
});
