/** The defaults of orders, for other writers. */
import { expect, test } from 'vitest';
import { startStore } from '../support/store.ts';

const store = startStore();

test('an insert of pet_id alone places an order now', async () => {
  const before = new Date().toISOString();
  await store.exec('INSERT INTO orders (pet_id) VALUES (7)');
  const [{ placedAt, ...order }] = JSON.parse((await store.fetch('/v1/store/orders')).text);
  expect(order).toEqual({ id: 1, petId: 7, status: 'placed' });
  expect([placedAt, before, new Date().toISOString()].sort()[1]).toBe(placedAt);
});
