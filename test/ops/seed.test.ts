import { expect, test } from 'vitest';
import { addOrders, addPets } from '../../ops/local/sample-data.ts';
import { startStore } from '../store.ts';

const store = startStore();

async function rows(sql: string): Promise<unknown[]> {
  const { DB } = await store.bindings();
  return (await DB.prepare(sql).all()).results;
}

test('pets, and an order of each, are added beside those that exist, in several statements', async () => {
  const { DB } = await store.bindings();
  await addPets(DB, 3);
  await addPets(DB, 4_500);
  const counts = 'SELECT count(*) AS count, count(DISTINCT name) AS names FROM pets';
  expect(await rows(counts)).toEqual([{ count: 4_503, names: 4_500 }]);

  // In several statements, too: no pet has a second order before each has one.
  await addOrders(DB, 4_503);
  const ordered = 'SELECT count(*) AS count, count(DISTINCT pet_id) AS pets FROM orders';
  expect(await rows(ordered)).toEqual([{ count: 4_503, pets: 4_503 }]);
});

test('the orders that are added match the statuses of their pets', async () => {
  const { DB } = await store.bindings();
  await addPets(DB, 400);
  await addOrders(DB, 1_000);
  // Two orders of each pet, and a third of the 200 newest; the open ones are each pet's first.
  const counts = `SELECT p.status AS pet, o.status, count(*) AS count FROM orders o JOIN pets p ON p.id = o.pet_id
    GROUP BY p.status, o.status ORDER BY p.status, o.status`;
  expect(await rows(counts)).toEqual([
    { pet: null, status: 'cancelled', count: 250 },
    { pet: 'available', status: 'cancelled', count: 250 },
    { pet: 'pending', status: 'approved', count: 50 },
    { pet: 'pending', status: 'cancelled', count: 150 },
    { pet: 'pending', status: 'placed', count: 50 },
    { pet: 'sold', status: 'delivered', count: 250 },
  ]);
});

test('orders need pets', async () => {
  const { DB } = await store.bindings();
  await expect(addOrders(DB, 3)).rejects.toThrow('there are no animals to order: --pets N');
});
