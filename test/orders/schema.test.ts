/** Constraints and defaults of the table of orders, which also hold for writers other than the service. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';
import type { Order } from './steps.ts';

const store = startStore();

const insert = (columns: string, values: string) =>
  store.exec(`INSERT INTO orders (${columns}) VALUES (${values})`);

const OPEN_TWICE = 'UNIQUE constraint failed: orders.pet_id';

test.each([
  ['placed', 'approved'],
  ['approved', 'placed'],
])('after a %s order of an animal, an insert of a %s one fails', async (first, second) => {
  await insert('pet_id, status', `7, '${first}'`);
  await expect(insert('pet_id, status', `7, '${second}'`)).rejects.toThrow(OPEN_TWICE);
  await insert('pet_id, status', `8, '${second}'`);
});

test('a closed order cannot be reopened beside an open one of its animal', async () => {
  for (const status of ['delivered', 'cancelled', 'delivered', 'cancelled', 'placed']) {
    await insert('pet_id, status', `7, '${status}'`);
  }
  const reopening = store.exec("UPDATE orders SET status = 'approved' WHERE status = 'delivered'");
  await expect(reopening).rejects.toThrow(OPEN_TWICE);
});

test('an insert of pet_id alone places an order now', async () => {
  const before = Date.now();
  await insert('pet_id', '7');
  const [order] = (await store.fetch('/v1/store/orders')).body as Order[];
  expect(order).toMatchObject({ petId: 7, status: 'placed' });
  expect(Date.parse(order?.placedAt ?? '')).toBeGreaterThanOrEqual(before);
  expect(Date.parse(order?.placedAt ?? '')).toBeLessThanOrEqual(Date.now());
});

test.each([
  ['an unknown status', 'pet_id, status', "7, 'shipped'", 'CHECK constraint failed'],
  ['no animal', 'status', "'placed'", 'NOT NULL constraint failed'],
  ['a rounded id', 'pet_id', '9223372036854775808', 'cannot store REAL value'],
])('an insert with %s fails', async (_, columns, values, message) => {
  await expect(insert(columns, values)).rejects.toThrow(message);
});
