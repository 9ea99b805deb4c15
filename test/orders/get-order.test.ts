/** GET /v1/store/orders/{orderId}: getOrder. */
import { expect, test } from 'vitest';
import { exact, startStore } from '../support/store.ts';

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
