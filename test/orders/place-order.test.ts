/** POST /v1/store/orders: placeOrder. Retries with an Idempotency-Key: test/idempotency. */
import { expect, test } from 'vitest';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();
const WITH_KEY = { headers: { 'idempotency-key': 'k' } };

test('places an order, which makes its animal pending, and no other', async () => {
  await store.insertPet({ id: 1, status: 'available' });
  await store.insertPet({ id: 2, status: 'available' });
  const { status, body, headers } = await store.placeOrder({ petId: 2 });
  expect([status, body]).toMatchObject([201, { id: 1, petId: 2, status: 'placed' }]);
  expect(headers.get('location')).toBe(`${store.url()}/v1/store/orders/1`);
  expect((await store.fetch('/v1/store/orders/1')).body).toEqual(body);
  expect(await store.rows('pets')).toMatchObject([{ status: 'available' }, { status: 'pending' }]);
});

test('the ids of two animals may be one double', async () => {
  await store.insertPet({ id: 2n ** 53n, status: 'available' });
  await store.insertPet({ id: 2n ** 53n + 1n, status: 'available' });
  const placed = exact(await store.placeOrder('{"petId":9007199254740993}'));
  expect(placed).toMatchObject({ petId: 2n ** 53n + 1n });
  expect(exact(await store.fetch('/v1/store/orders/1'))).toEqual(placed);
  expect(await store.rows('pets')).toMatchObject([{ status: 'available' }, { status: 'pending' }]);
});

test.each([
  ['pending', expect.stringMatching(/ 7 .+: it is pending\.$/)],
  ['sold', expect.stringMatching(/ 7 .+: it is sold\.$/)],
  [null, 'The animal 7 is not available.'],
])('an animal that is %s cannot be ordered', async (status, message) => {
  await store.insertPet({ id: 7, status });
  const reply = await store.expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expectError(reply, 409, 'pet_not_available', message);
});

test('an animal that does not exist cannot be ordered', async () => {
  const reply = await store.expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expectError(reply, 404, 'pet_not_found');
});

test('an animal with an open order is not ordered, although SQL made it available', async () => {
  await store.insertPet({ id: 7, status: 'available' });
  await store.insertOrder({ pet_id: 7, status: 'approved' });
  const reply = await store.expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expectError(reply, 409, 'pet_not_available', expect.not.stringContaining('it is'));
});

test('a refusal is no replay of a key that has expired', async () => {
  await store.insertPet({ id: 7, status: 'available' });
  expect((await store.placeOrder({ petId: 7 }, WITH_KEY)).status).toBe(201);
  await store.exec('UPDATE idempotency_keys SET created_at = 0');
  expectError(await store.placeOrder({ petId: 7 }, WITH_KEY), 409, 'pet_not_available');
});
