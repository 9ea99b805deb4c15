/** placeOrder: the order, the status of its animal, refusals and races. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';
import {
  contents,
  expectError,
  expectUnchanged,
  insertOrder,
  insertPets,
  type Order,
} from './steps.ts';

const store = startStore();

test('an order of an available animal is a 201, and makes it pending, and no other', async () => {
  await insertPets(store, 'available', 'available');
  const reply = await store.placeOrder({ petId: 2 });
  const { placedAt } = reply.body as Order;
  const order = `{"id":1,"petId":2,"status":"placed","placedAt":"${placedAt}"}`;
  expect([reply.status, reply.text]).toEqual([201, order]);
  expect(reply.headers.get('location')).toBe(`${store.url()}/v1/store/orders/1`);
  expect((await store.fetch('/v1/store/orders/1')).text).toBe(order);
  const pets = ['animal 1 Rex 3 available', 'animal 2 Rex 3 pending'];
  expect(await contents(store)).toEqual([...pets, 'order 1 of 2 placed']);
});

const KEYED = { headers: { 'idempotency-key': 'k' } };

test.each([
  [1, 409, 'pet_not_available', 'The animal 1 is not available: its status is sold.'],
  [2, 409, 'pet_not_available', 'The animal 2 is not available: it has no status.'],
  [3, 409, 'pet_not_available', 'The animal 3 is not available: its status is pending.'],
  [77, 404, 'pet_not_found', 'There is no animal with the id 77.'],
])('an order of the animal %i is a %i that changes nothing', async (petId, ...error) => {
  await insertPets(store, 'sold', null, 'pending');
  // The row of the last insert is not the refused order.
  await insertOrder(store, 1, 'delivered');
  expectError(await expectUnchanged(store, () => store.placeOrder({ petId })), ...error);
  expectError(await expectUnchanged(store, () => store.placeOrder({ petId }, KEYED)), ...error);
});

test('an order beside an open one that an operator inserted reserves the animal', async () => {
  await insertPets(store, 'available');
  await insertOrder(store, 1, 'placed');
  const message = 'The animal 1 is not available: its status is pending.';
  expectError(await store.placeOrder({ petId: 1 }, KEYED), 409, 'pet_not_available', message);
  expect(await contents(store)).toEqual(['animal 1 Rex 3 pending', 'order 1 of 1 placed']);
});

test('of fifty concurrent orders of one animal, half of them with keys, one is placed', async () => {
  await insertPets(store, 'available');
  const keys = Array.from({ length: 50 }, (_, i) => (i % 2 ? `k${i}` : null));
  const replies = await Promise.all(
    keys.map((key) => store.placeOrder({ petId: 1 }, { headers: { 'idempotency-key': key } })),
  );
  const refused = replies.filter(({ text }) => text.includes('"pet_not_available"'));
  expect(refused).toHaveLength(49);
  const placed = replies.filter(({ status }) => status === 201).map(({ text }) => text);
  expect((await store.fetch('/v1/store/orders')).text).toBe(`[${placed}]`);
  expect((await store.fetch('/v1/pets?status=pending')).body).toHaveLength(1);
});
