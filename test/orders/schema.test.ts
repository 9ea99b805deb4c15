/** The constraints of orders, which also hold for other writers. */
import { expect, test } from 'vitest';
import { startStore } from '../support/store.ts';

const store = startStore();

const insert = (petId: number, status: string) =>
  store.exec(`INSERT INTO orders (pet_id, status) VALUES (${petId}, '${status}')`);

test('an animal has at most one open order, and any number of closed ones', async () => {
  for (const status of ['delivered', 'cancelled', 'delivered', 'cancelled', 'placed']) {
    await insert(7, status);
  }
  const twice = 'UNIQUE constraint failed: orders.pet_id';
  await expect(insert(7, 'approved')).rejects.toThrow(twice);
  const reopening = store.exec("UPDATE orders SET status = 'approved' WHERE status = 'delivered'");
  await expect(reopening).rejects.toThrow(twice);
  await insert(8, 'approved');
});

test('an insert of pet_id alone places an order now', async () => {
  const before = new Date().toISOString();
  await store.exec('INSERT INTO orders (pet_id) VALUES (7)');
  const [{ placedAt, ...order }] = JSON.parse((await store.fetch('/v1/store/orders')).text);
  expect(order).toEqual({ id: 1, petId: 7, status: 'placed' });
  expect([placedAt, before, new Date().toISOString()].sort()[1]).toBe(placedAt);
});
