/** GET /v1/store/orders/{orderId}: getOrder. */
import { expect, test } from 'vitest';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();

test('answers the order with this id, also if another has the same double', async () => {
  const placed_at = '2026-11-20T12:00:00.123Z';
  await store.insertOrder({ id: 2n ** 53n, pet_id: 1 });
  await store.insertOrder({
    id: 2n ** 53n + 1n,
    pet_id: 2n ** 53n + 1n,
    status: 'delivered',
    placed_at,
  });
  const reply = await store.fetch('/v1/store/orders/9007199254740993');
  const id = 2n ** 53n + 1n;
  expect(exact(reply)).toMatchObject({ id, petId: id, status: 'delivered', placedAt: placed_at });
});

test('an unknown id is a 404', async () => {
  const reply = await store.fetch('/v1/store/orders/7');
  expectError(reply, 404, 'order_not_found', 'There is no order with the id 7.');
});

test('an id that is no int64 is a 400', async () => {
  const message = expect.stringMatching(/^orderId: /);
  const reply = await store.fetch('/v1/store/orders/9223372036854775808');
  expectError(reply, 400, 'invalid_request', message);
});
