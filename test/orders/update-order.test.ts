/** PATCH /v1/store/orders/{orderId}: updateOrder. It also sets the status of the animal. */
import { expect, test } from 'vitest';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();

/** The id of the order, and of its animal. As a double, it is that of another order and animal. */
const ID = 2n ** 53n + 1n;
const placed_at = '2026-11-20T12:00:00.123Z';

async function insertOrders(status: string) {
  for (const id of [ID - 1n, ID]) {
    await store.insertPet({ id, status: 'pending' });
    await store.insertOrder({ id, pet_id: id, status, placed_at });
  }
}

const updateOrder = (status: string) => store.send('PATCH', `/v1/store/orders/${ID}`, { status });

test.each([
  ['placed', 'approved', 'pending'],
  ['placed', 'cancelled', 'available'],
  ['approved', 'delivered', 'sold'],
  ['approved', 'cancelled', 'available'],
])('an order can go from %s to %s: its animal alone is %s', async (from, to, petStatus) => {
  await insertOrders(from);
  const reply = await updateOrder(to);
  expect(reply.status).toBe(200);
  expect(exact(reply)).toEqual({ id: ID, petId: ID, status: to, placedAt: placed_at });
  expect(await store.rows('orders')).toMatchObject([
    { status: from, placed_at },
    { status: to, placed_at },
  ]);
  expect(await store.rows('pets')).toMatchObject([{ status: 'pending' }, { status: petStatus }]);
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
  await insertOrders(from);
  const reply = await store.expectUnchanged(() => updateOrder(to));
  expectError(reply, 409, 'invalid_transition', `The order is ${from}: it cannot become ${to}.`);
});

test.each(['placed', 'approved', 'delivered', 'cancelled'])(
  'an order that is %s can be set to that again, which changes nothing',
  async (status) => {
    await insertOrders(status);
    const reply = await store.expectUnchanged(() => updateOrder(status));
    expect(reply).toMatchObject({ status: 200, body: { status } });
  },
);

test.each([
  [{ status: 'shipped' }, 'status: must be one of placed, approved, delivered, cancelled'],
  [{}, 'status: is required'],
  [{ status: 'placed', petId: 7 }, 'petId: is not a known field: status'],
])('the body %j is a 400', async (body, message) => {
  const reply = await store.send('PATCH', '/v1/store/orders/5', body);
  expectError(reply, 400, 'invalid_request', message);
});
