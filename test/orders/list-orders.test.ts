/** GET /v1/store/orders: listOrders. Its pages are those of test/pets/list-pets.test.ts. */
import { expect, test } from 'vitest';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();
const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'];

test('lists the orders by ascending id, with every digit', async () => {
  const id = 2n ** 53n + 1n;
  await store.insertOrder({ id, pet_id: id, status: 'cancelled' });
  await store.insertOrder({ id: 9, pet_id: 7, status: 'placed' });
  expect(exact(await store.fetch('/v1/store/orders'))).toMatchObject([
    { id: 9n, petId: 7n, status: 'placed' },
    { id, petId: id, status: 'cancelled' },
  ]);
});

test.each(STATUSES)(
  'the filter %s selects the orders with that status, on all pages',
  async (status) => {
    for (const [i, each] of [...STATUSES, ...STATUSES].entries())
      await store.insertOrder({ pet_id: i, status: each });
    const first = await store.fetch(`/v1/store/orders?status=${status}&limit=1`);
    const [, next = ''] =
      /<http:\/\/[^/]+(.+)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    const last = await store.fetch(next);
    expect([first.body, last.body]).toMatchObject([[{ status }], [{ status }]]);
    expect(last.body).not.toEqual(first.body);
    expect(last.headers.has('link')).toBe(false);
  },
);

test('the status of an animal is no status of an order', async () => {
  const reply = await store.fetch('/v1/store/orders?status=sold');
  expectError(reply, 400, 'invalid_request', expect.stringMatching(/^status: /));
});
