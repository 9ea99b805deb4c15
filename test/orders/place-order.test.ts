/** POST /v1/store/orders: placeOrder. Retries with an Idempotency-Key: test/idempotency. */
import { expect, test } from 'vitest';
import { exact, expectError, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore('staging');

test('places an order, which makes its animal pending, although another id is one double', async () => {
  const petId = 2n ** 53n + 1n;
  await store.insertPet({ id: 2n ** 53n, status: 'available' });
  await store.insertPet({ id: petId, status: 'available' });
  const reply = await store.placeOrder('{"petId":9007199254740993}');
  expect(reply.status).toBe(201);
  // The time: test/d1/sql.test.ts.
  const placedAt = expect.any(String);
  expect(exact(reply)).toEqual({ id: 1n, petId, status: 'placed', placedAt });
  expect(reply.headers.get('location')).toBe(`${store.baseUrl()}/store/orders/1`);
  expect((await store.fetch('/v1/store/orders/1')).text).toBe(reply.text);
  expect(await store.rows('pets')).toMatchObject([{ status: 'available' }, { status: 'pending' }]);
});

test.each([
  ['pending', 'cancelled', 'The animal 7 is not available: it is pending.'],
  ['sold', 'delivered', 'The animal 7 is not available: it is sold.'],
  [null, 'delivered', 'The animal 7 is not available.'],
  // SQL made it available.
  ['available', 'approved', 'The animal 7 is not available.'],
])(
  'an animal that is %s, and whose order is %s, cannot be ordered',
  async (status, order, message) => {
    await store.insertPet({ id: 7, status });
    await store.insertOrder({ pet_id: 7, status: order });
    const reply = await store.expectUnchanged(() => store.placeOrder({ petId: 7 }));
    expectError(reply, 409, 'pet_not_available', message);
  },
);

test('an animal that does not exist cannot be ordered', async () => {
  const reply = await store.expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expectError(reply, 404, 'pet_not_found', 'There is no animal with the id 7.');
});
