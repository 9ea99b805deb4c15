/** GET /v1/store/orders/{orderId}: getOrder. */
import { expect, test } from 'vitest';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();

test('answers the order with this id, also if another has the same double', async () => {
  const id = 2n ** 53n + 1n;
  const placed_at = '2026-11-20T12:00:00.123Z';
  await store.insertOrder({ id: 2n ** 53n, pet_id: 1 });
  await store.insertOrder({ id, pet_id: id, status: 'delivered', placed_at });
  const reply = await store.fetch('/v1/store/orders/9007199254740993');
  expect(exact(reply)).toEqual({ id, petId: id, status: 'delivered', placedAt: placed_at });
});

test.each<[string, object?]>([['GET'], ['PATCH', { status: 'approved' }]])(
  '%s of an unknown id is a 404',
  async (method, body) => {
    const reply = await store.send(method, '/v1/store/orders/9', body);
    expectError(reply, 404, 'order_not_found', 'There is no order with the id 9.');
  },
);
