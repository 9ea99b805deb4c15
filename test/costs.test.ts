/**
 * The rows that D1 reads and writes for a request, among two thousand: it bills them. The numbers
 * are measured. Change one only on purpose, and write it into BENCHMARKS.md (`npm run bench -- rows
 * --write`).
 */
import { beforeEach, expect, test } from 'vitest';
import { type Reply, startFaultyStore } from './support/store.ts';

const store = startFaultyStore();

// Animals, orders and records of idempotency keys that no test names, and three available animals.
beforeEach(() =>
  store.exec(
    `WITH RECURSIVE ids(id) AS (SELECT 1001 UNION ALL SELECT id + 1 FROM ids LIMIT 2000)
       INSERT INTO pets (id, name, category_id, status) SELECT id, 'Mia ' || id, 3, 'sold' FROM ids;
     INSERT INTO orders (id, pet_id, status) SELECT id, id, 'delivered' FROM pets;
     INSERT INTO idempotency_keys (key_hash, created_at, request_hash, item_id, item)
       SELECT randomblob(32), unixepoch() * 1000, randomblob(32), id, '{}' FROM pets;
     INSERT INTO pets (id, name, category_id, status)
       VALUES (7, 'Rex', 3, 'available'), (8, 'Mia', 3, 'available'), (9, 'Max', 3, 'available');
     INSERT INTO orders (id, pet_id, status) VALUES (5, 9, 'approved')`,
  ),
);

async function expectRows(send: () => Promise<Reply>, read: number, written: number) {
  await store.fault({});
  expect((await send()).status).toBeLessThan(300);
  expect(await store.calls()).toMatchObject({ read, written });
}

const WITH_KEY = { headers: { 'idempotency-key': 'k' } };

test('createPet, without a key, with one, and for a replay', async () => {
  const send = (init = {}) => store.createPet({ name: 'Rex', categoryId: 3, status: 'sold' }, init);
  await expectRows(send, 2, 3);
  await expectRows(() => send(WITH_KEY), 3, 5);
  await expectRows(() => send(WITH_KEY), 1, 0);
});

test('placeOrder, without a key, with one, and for a replay', async () => {
  await expectRows(() => store.placeOrder({ petId: 7 }), 5, 6);
  await expectRows(() => store.placeOrder({ petId: 8 }, WITH_KEY), 6, 8);
  await expectRows(() => store.placeOrder({ petId: 8 }, WITH_KEY), 2, 0);
});

test.each([
  ['PATCH', '/v1/pets/7', { name: 'Max' }, 3, 1],
  ['PATCH', '/v1/pets/7', { categoryId: 4 }, 3, 1],
  ['PATCH', '/v1/pets/7', { status: 'sold' }, 3, 2],
  ['DELETE', '/v1/pets/7', undefined, 3, 1],
  ['PATCH', '/v1/store/orders/5', { status: 'delivered' }, 6, 4],
])('%s %s %j', async (method, path, body, read, written) => {
  await expectRows(() => store.send(method, path, body), read, written);
});

test.each(['pets?', 'pets?status=sold&', 'store/orders?', 'store/orders?status=delivered&'])(
  '%s reads one row more than its page, wherever that begins',
  async (path) => {
    for (const page of ['limit=2', 'limit=2&after=1500'])
      await expectRows(() => store.fetch(`/v1/${path}${page}`), 3, 0);
  },
);
