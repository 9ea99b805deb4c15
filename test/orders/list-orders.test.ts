/**
 * GET /v1/store/orders: listOrders, whose pages are those of test/pets/list-pets.test.ts. GET
 * /v1/store/orders/{orderId}: getOrder.
 */
import { expect, test } from 'vitest';
import { exact, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore('staging');
const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'];

test('lists the orders by ascending id, and answers one, with every digit', async () => {
  const id = 2n ** 53n + 1n;
  const placed_at = '2026-11-20T12:00:00.123Z';
  await store.insertOrder({ id, pet_id: id, status: 'cancelled', placed_at });
  // Ids do not ascend with time: SQL may change them.
  await store.insertOrder({ id: 2n ** 53n, pet_id: 7 });
  const [first, last] = Object(exact(await store.fetch('/v1/store/orders')));
  expect(first).toMatchObject({ id: 2n ** 53n, petId: 7n, status: 'placed' });
  expect(last).toEqual({ id, petId: id, status: 'cancelled', placedAt: placed_at });
  expect(exact(await store.fetch(`/v1/store/orders/${id}`))).toEqual(last);
});

test.each(STATUSES)(
  'the filter %s selects the orders with that status, on all pages',
  async (status) => {
    for (const [i, each] of [...STATUSES, ...STATUSES].entries())
      await store.insertOrder({ pet_id: i, status: each });
    const id = STATUSES.indexOf(status) + 1;
    const query = `/store/orders?limit=1&status=${status}`;
    const first = await store.fetch(`/v1${query}`);
    const last = await store.fetch(`/v1${query}&after=${id}`);
    expect([first.body, last.body]).toMatchObject([[{ id, status }], [{ id: id + 4, status }]]);
    const next = `${store.baseUrl()}${query}&after=${id}`;
    expect(first.headers.get('link')).toBe(`<${next}>; rel="next"`);
    expect(last.headers.has('link')).toBe(false);
  },
);
