/** placeOrder: the order, the status of its animal, refusals and races. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { addOrder, addPet, expectError, expectUnchanged, type Order, petStatus } from './steps.ts';

const store = startStore();

test('an order of an available animal is a 201 with the order and its address', async () => {
  const petId = await addPet(store);
  const reply = await store.placeOrder({ petId });
  const { id, placedAt } = reply.body as Order;
  const order = `{"id":${id},"petId":${petId},"status":"placed","placedAt":"${placedAt}"}`;
  expect([reply.status, reply.text]).toEqual([201, order]);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(placedAt).toBe(new Date(placedAt).toISOString());
  expect(reply.headers.get('location')).toBe(`${store.url()}/v1/store/orders/${id}`);
  expect((await store.fetch(`/v1/store/orders/${id}`)).text).toBe(order);
});

test('an order makes its animal pending, and no other', async () => {
  const [other, petId] = [await addPet(store), await addPet(store)];
  expect((await store.placeOrder({ petId })).status).toBe(201);
  expect(await petStatus(store, petId)).toBe('pending');
  expect(await petStatus(store, other)).toBe('available');
});

describe.each([
  { request: 'without an idempotency key', headers: {} },
  { request: 'with an idempotency key', headers: { 'idempotency-key': 'k' } },
])('$request', ({ headers }) => {
  test.each([
    ['sold', 'its status is sold'],
    [null, 'it has no status'],
  ])('an order of an animal with the status %s is a 409', async (status, reason) => {
    const petId = await addPet(store, status);
    const reply = await expectUnchanged(store, () => store.placeOrder({ petId }, { headers }));
    const message = `The animal ${petId} is not available: ${reason}.`;
    expectError(reply, 409, 'pet_not_available', message);
    expect(reply.headers.has('location')).toBe(false);
  });

  test('an order of an animal that does not exist is a 404', async () => {
    // The row of the last insert is not the order.
    await addOrder(store, await addPet(store));
    const reply = await expectUnchanged(store, () => store.placeOrder({ petId: 77 }, { headers }));
    expectError(reply, 404, 'pet_not_found', 'There is no animal with the id 77.');
    expect(reply.headers.has('location')).toBe(false);
  });

  test('an order beside an open one that an operator inserted reserves the animal', async () => {
    const petId = await addPet(store);
    await store.exec(`INSERT INTO orders (pet_id) VALUES (${petId})`);
    const reply = await store.placeOrder({ petId }, { headers });
    const message = expect.stringContaining('its status is pending');
    expectError(reply, 409, 'pet_not_available', message);
    expect(await petStatus(store, petId)).toBe('pending');
    expect((await store.fetch('/v1/store/orders')).body).toMatchObject([{ petId }]);
  });
});

test.each([
  ['no keys', () => ({})],
  ['fifty keys', (i: number) => ({ 'idempotency-key': `k${i}` })],
])('of fifty concurrent orders of one animal with %s, one is placed', async (_, headersOf) => {
  const petId = await addPet(store);
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) => store.placeOrder({ petId }, { headers: headersOf(i) })),
  );
  const placed = replies.filter(({ status }) => status === 201);
  const refused = replies.filter(({ text }) => text.includes('"pet_not_available"'));
  expect([placed.length, refused.length]).toEqual([1, 49]);
  expect((await store.fetch('/v1/store/orders')).text).toBe(`[${placed[0]?.text}]`);
  expect(await petStatus(store, petId)).toBe('pending');
});
