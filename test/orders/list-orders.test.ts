import { describe, expect, test } from 'vitest';
import { selectOrders } from '../../src/orders/queries.ts';
import { startStore } from '../store.ts';
import { addPet, type Order, placeOrder, seedOrders, setStatus } from './steps.ts';

const store = startStore();

const LIMIT = 'limit: must be an integer from 1 to 100';
const STATUS = 'status: must be one of placed, approved, delivered, cancelled';
const CURSOR = 'cursor: must be a cursor from the Link header of this list';
const FILTER = 'cursor: must be used with the status filter that it was made for';

/** The path of the next page, '' for the last one. */
async function page(path: string): Promise<{ orders: Order[]; next: string }> {
  const { status, body, headers } = await store.fetch(path);
  expect(status).toBe(200);
  const address = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  const next = address ? address.slice(store.url().length) : '';
  return { orders: body as Order[], next };
}

async function walk(path: string): Promise<Order[][]> {
  const pages: Order[][] = [];
  for (let next = path; next !== ''; ) {
    const found = await page(next);
    pages.push(found.orders);
    next = found.next;
  }
  return pages;
}

const ids = (pages: Order[][]) => pages.map((orders) => orders.map(({ id }) => id));

describe('a page', () => {
  test('of a store without orders is an empty array without a Link', async () => {
    const { status, text, headers } = await store.fetch('/v1/store/orders');
    expect([status, text, headers.has('link')]).toEqual([200, '[]', false]);
    expect(headers.get('content-type')).toBe('application/json');
  });

  test('has each order as placeOrder returned it', async () => {
    const first = await placeOrder(store, await addPet(store));
    const second = await placeOrder(store, await addPet(store), ['approved']);
    expect((await store.fetch('/v1/store/orders')).body).toEqual([first, second]);
  });

  test('has 20 orders by default, at most 100, and a link to the next one', async () => {
    await seedOrders(store, 101);
    const first = await store.fetch('/v1/store/orders');
    expect(first.body).toHaveLength(20);
    expect(first.headers.get('link')).toMatch(
      /^<http:\/\/127\.0\.0\.1:\d+\/v1\/store\/orders\?limit=20&cursor=[\w-]+>; rel="next"$/,
    );
    expect((await page('/v1/store/orders?limit=100')).orders).toHaveLength(100);
  });

  test('that contains all remaining orders is the last one', async () => {
    await seedOrders(store, 5);
    expect((await page('/v1/store/orders?limit=5')).next).toBe('');
  });
});

test('the pages have each order once, in ascending order', async () => {
  await seedOrders(store, 7);
  expect(ids(await walk('/v1/store/orders?limit=3'))).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
});

test.each([
  ['placed', [[4, 8], [12]]],
  ['approved', [[1, 5], [9]]],
  ['delivered', [[2, 6], [10]]],
  ['cancelled', [[3, 7], [11]]],
])('the pages of %s orders have no others', async (status, expected) => {
  await seedOrders(store, 12);
  const pages = await walk(`/v1/store/orders?limit=2&status=${status}`);
  expect(ids(pages)).toEqual(expected);
  expect(new Set(pages.flat().map((order) => order.status))).toEqual(new Set([status]));
});

test('an order moves to the list of its new status', async () => {
  const { id } = await placeOrder(store, await addPet(store));
  await setStatus(store, id, 'approved');
  expect((await store.fetch('/v1/store/orders?status=placed')).text).toBe('[]');
  expect((await page('/v1/store/orders?status=approved')).orders).toMatchObject([{ id }]);
});

test('ids beyond 2^53 and below zero are exact, and their pages continue', async () => {
  const { DB } = await store.bindings();
  const all = ['-9223372036854775808', '9007199254740992', '9007199254740993'];
  for (const id of all) {
    await DB.prepare("INSERT INTO orders (id, pet_id, status) VALUES (?1, ?1, 'delivered')")
      .bind(id)
      .run();
  }
  let next = '/v1/store/orders?limit=1&status=delivered';
  for (const id of all) {
    expect((await store.fetch(next)).text).toContain(`{"id":${id},"petId":${id},`);
    ({ next } = await page(next));
  }
  expect(next).toBe('');
});

describe('a cursor of', () => {
  /** The cursor of the second page. */
  async function cursorOf(list: string): Promise<string> {
    const { next } = await page(list);
    return new URLSearchParams(next.split('?')[1]).get('cursor') ?? '';
  }

  test.each([
    ['animals', '/v1/pets?limit=1', '/v1/store/orders?', CURSOR],
    ['orders', '/v1/store/orders?limit=1', '/v1/pets?', CURSOR],
    ['sold animals', '/v1/pets?limit=1&status=sold', '/v1/store/orders?', CURSOR],
    ['placed orders', '/v1/store/orders?limit=1&status=placed', '/v1/pets?', CURSOR],
    ['all orders', '/v1/store/orders?limit=1', '/v1/store/orders?status=placed&', FILTER],
    ['placed orders', '/v1/store/orders?limit=1&status=placed', '/v1/store/orders?', FILTER],
    [
      'placed orders',
      '/v1/store/orders?limit=1&status=placed',
      '/v1/store/orders?status=approved&',
      FILTER,
    ],
  ])('%s (%s) is rejected by %s', async (_, list, other, message) => {
    await seedOrders(store, 12);
    const cursor = await cursorOf(list);
    expect(cursor).not.toBe('');
    const reply = await store.fetch(`${other}cursor=${cursor}`);
    expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
    expect(reply.status).toBe(400);
  });

  test('orders is valid with another limit', async () => {
    await seedOrders(store, 12);
    const cursor = await cursorOf('/v1/store/orders?limit=2');
    const { orders } = await page(`/v1/store/orders?limit=3&cursor=${cursor}`);
    expect(ids([orders])).toEqual([[3, 4, 5]]);
  });
});

test.each([
  ['limit=0', LIMIT],
  ['limit=101', LIMIT],
  ['limit=1.0', LIMIT],
  ['limit=5&limit=5', 'limit: must be given only once'],
  ['status=PLACED', STATUS],
  ['status=shipped', STATUS],
  ['status=sold', STATUS],
  ['status=', STATUS],
  ['status=null', STATUS],
  ['status=placed,approved', STATUS],
  ['status=placed&status=placed', 'status: must be given only once'],
  ['stauts=placed', 'stauts: is not a known parameter, did you mean status?'],
  ['petId=1', 'petId: is not a known parameter'],
  ['cursor=', CURSOR],
  ['cursor=garbage', CURSOR],
  ['cursor=a&cursor=a', 'cursor: must be given only once'],
  ['limit=0&status=no&cursor=x&y=1', `${LIMIT}; ${STATUS}; ${CURSOR}; y: is not a known parameter`],
])('the query %s is a 400', async (query, message) => {
  const reply = await store.fetch(`/v1/store/orders?${query}`);
  expect(reply.body).toEqual({ code: 'invalid_request', message, status: 400 });
  expect(reply.status).toBe(400);
});

test('a page reads at most limit + 1 of 10,000 rows, at any depth, with and without filter', async () => {
  await seedOrders(store, 10_000);
  const { DB } = await store.bindings();
  for (const status of [undefined, 'placed', 'cancelled']) {
    for (const lastId of [0n, 5_000n, 9_970n, 9_999n]) {
      for (const limit of [1, 20, 100]) {
        const query = { status, limit, cursor: { scope: '', lastId } };
        const { meta, results } = await selectOrders(DB, query);
        expect(results).toHaveLength(1);
        expect(meta.rows_read).toBeLessThanOrEqual(limit + 1);
      }
    }
  }
});
