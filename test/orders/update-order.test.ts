/** PATCH /v1/store/orders/{orderId}: updateOrder. It also sets the status of the animal. */
import { expect, test } from 'vitest';
import { expectError, startStore } from '../support/store.ts';

const store = startStore();
const updateOrder = (id: bigint | number, status: string) =>
  store.send('PATCH', `/v1/store/orders/${id}`, { status });

const ORDER = { id: 5, pet_id: 7, placed_at: '2026-11-20T12:00:00.123Z' };

async function insertOrder(status: string) {
  await store.insertPet({ id: 7, status: 'pending' });
  await store.insertOrder({ ...ORDER, status });
}

test.each([
  ['placed', 'approved', 'pending'],
  ['placed', 'cancelled', 'available'],
  ['approved', 'delivered', 'sold'],
  ['approved', 'cancelled', 'available'],
])('an order can go from %s to %s: its animal is %s', async (from, to, petStatus) => {
  await insertOrder(from);
  const { status, body } = await updateOrder(5, to);
  const order = { id: 5, petId: 7, status: to, placedAt: ORDER.placed_at };
  expect([status, body]).toEqual([200, order]);
  expect(await store.rows('orders')).toEqual([{ ...ORDER, status: to }]);
  expect(await store.rows('pets')).toMatchObject([{ status: petStatus }]);
});

test.each([
  ['placed', 'delivered'],
  ['approved', 'placed'],
  ['delivered', 'placed'],
  ['delivered', 'approved'],
  ['delivered', 'cancelled'],
  ['cancelled', 'placed'],
  ['cancelled', 'approved'],
  ['cancelled', 'delivered'],
])('an order cannot go from %s to %s', async (from, to) => {
  await insertOrder(from);
  const reply = await store.expectUnchanged(() => updateOrder(5, to));
  expectError(reply, 409, 'invalid_transition', `The order is ${from}: it cannot become ${to}.`);
});

test.each(['placed', 'approved', 'delivered', 'cancelled'])(
  'an order that is %s can be set to that again, which changes nothing',
  async (status) => {
    await insertOrder(status);
    const reply = await store.expectUnchanged(() => updateOrder(5, status));
    expect(reply).toMatchObject({ status: 200, body: { status } });
  },
);

test('a delivery changes no other animal or order, although their ids are one double', async () => {
  for (const id of [2n ** 53n, 2n ** 53n + 1n]) {
    await store.insertPet({ id, status: 'pending' });
    await store.insertOrder({ id, pet_id: id, status: 'approved' });
  }
  await updateOrder(2n ** 53n + 1n, 'delivered');
  expect(await store.rows('pets')).toMatchObject([{ status: 'pending' }, { status: 'sold' }]);
  expect(await store.rows('orders')).toMatchObject([
    { status: 'approved' },
    { status: 'delivered' },
  ]);
});

test.each([
  [{ status: 'shipped' }, 'status: must be one of placed, approved, delivered, cancelled'],
  [{}, 'status: is required'],
  [{ status: 'placed', petId: 7 }, 'petId: is not a known field: status'],
])('the body %j is a 400', async (body, message) => {
  const reply = await store.send('PATCH', '/v1/store/orders/5', body);
  expectError(reply, 400, 'invalid_request', message);
});
