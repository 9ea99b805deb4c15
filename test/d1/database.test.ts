/** Queries need no request: a cron can run them. */
import { expect, test } from 'vitest';
import { Database } from '../../src/d1/database.ts';
import { placeOrder } from '../../src/orders/queries.ts';
import { createPet, listPets } from '../../src/pets/queries.ts';
import { stopTime } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

test('a cron adds, lists and orders animals', async () => {
  stopTime();
  const db = new Database(store.bindings().DB);
  const rex = { name: 'Rex', categoryId: 2n ** 53n + 1n, status: 'available' } as const;
  const pet = await createPet(db, {}, rex);
  expect(await listPets(db, { limit: 20 })).toEqual([pet]);
  const placedAt = new Date().toISOString();
  expect(await placeOrder(db, {}, { petId: pet.id })).toMatchObject({ placedAt });
});
