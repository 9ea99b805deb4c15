/** listPets and listOrders: their pages, and the queries that they reject. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { addPet, deletePet, expectError, seedStore } from '../orders/steps.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

/** The path of the page that `Link` names, or `undefined` on the last page. */
function nextPath({ headers }: Reply): string | undefined {
  const address = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1];
  if (!address) return undefined;
  const { pathname, search } = new URL(address);
  return pathname + search;
}

/** The ids of each page from this path to the last, such as `1 2 3`. `afterPage` is called after each page. */
async function pagesFrom(
  path: string,
  afterPage: () => Promise<unknown> = async () => {},
): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next; ) {
    const reply = await store.fetch(next);
    expect(reply.status).toBe(200);
    const ids = Array.from(reply.text.matchAll(/\{"id":(-?[0-9]+)/g), ([, id = '']) => id);
    pages.push(ids.join(' '));
    expect(pages.length, 'the pages do not end').toBeLessThan(100);
    next = nextPath(reply);
    await afterPage();
  }
  return pages;
}

/** `filtered` has the pages of at most two items in a store of twelve: see `seedStore`. */
describe.each([
  {
    path: '/v1/pets',
    insert: "INSERT INTO pets (id, name, category_id, status) SELECT value, 'Rex', 1, 'sold'",
    filter: 'status=sold',
    filtered: { available: ['3 11'], pending: ['1 4', '5 8', '9 12'], sold: ['2 6', '10'] },
  },
  {
    path: '/v1/store/orders',
    insert: "INSERT INTO orders (id, pet_id, status) SELECT value, value, 'placed'",
    filter: 'status=placed',
    filtered: {
      ...{ placed: ['4 8', '12'], approved: ['1 5', '9'] },
      ...{ delivered: ['2 6', '10'], cancelled: ['3 7', '11'] },
    },
  },
])('the list $path', ({ path, insert, filter, filtered }) => {
  test('a page has 20 items by default, at most 100, and a Link to the next', async () => {
    await seedStore(store, 101);
    const reply = await store.fetch(path);
    expect(reply.body).toHaveLength(20);
    expect(reply.headers.get('link')).toBe(`<${store.url()}${path}?limit=20&after=20>; rel="next"`);
    expect((await store.fetch(`${path}?limit=100`)).body).toHaveLength(100);
  });

  test('the pages have each item once, and a full last page has no Link', async () => {
    await seedStore(store, 6);
    expect(await pagesFrom(`${path}?limit=4`)).toEqual(['1 2 3 4', '5 6']);
    expect(await pagesFrom(`${path}?limit=3`)).toEqual(['1 2 3', '4 5 6']);
  });

  test.each(Object.entries(filtered))(
    'a list of the status %s has no others',
    async (status, pages) => {
      await seedStore(store, 12);
      expect(await pagesFrom(`${path}?limit=2&status=${status}`)).toEqual(pages);
    },
  );

  test('pages keep every digit of ids, with and without a filter', async () => {
    const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
    await store.exec(`${insert} FROM json_each('[${ids}]')`);
    expect(await pagesFrom(`${path}?limit=1`)).toEqual(ids);
    expect(await pagesFrom(`${path}?limit=1&${filter}`)).toEqual(ids);
  });
});

test('while animals are added and deleted, the pages have each remaining animal once', async () => {
  const ids = Array.from({ length: 12 }, (_, i) => i + 1);
  await store.exec(
    `INSERT INTO pets (id, name, category_id, status) SELECT value, 'Rex', 3, 'sold' FROM json_each('[${ids}]')`,
  );
  // After each page, an animal is added, and two are deleted: the last listed one, and one that is not listed yet.
  const deletions = [3, 5, 7, 8, 11, 12];
  const pages = await pagesFrom('/v1/pets?limit=3&status=sold', async () => {
    await addPet(store, 'sold');
    for (const id of deletions.splice(0, 2)) await deletePet(store, id);
  });
  expect(pages.slice(0, 3)).toEqual(['1 2 3', '4 6 7', '9 10 11']);
  // The last page has the animals that were added after the first three.
  expect(pages.slice(3)).toEqual([expect.stringMatching(/^\d+ \d+ \d+$/)]);
});

const LIMIT = 'limit: must be an integer from 1 to 100';
const AFTER = 'after: must be an integer from -9223372036854775808 to 9223372036854775807';

async function expectInvalid(path: string, message: string): Promise<void> {
  expectError(await send('GET', path), 400, 'invalid_request', message);
}

test.each([
  ...['0', '101', '-5', '5.0', '1e1', '0x10', '%2B5', '%205', '5%0A', 'abc', '%EF%BC%95'],
  ...['', '9'.repeat(1000)],
])('the limit %s is not an integer from 1 to 100 in decimal digits', (limit) =>
  expectInvalid(`/v1/pets?limit=${limit}`, LIMIT),
);

test.each([
  ['pets?limit=5&limit=5', 'limit: must be given only once'],
  ['pets?status=sold&status=sold', 'status: must be given only once'],
  ['pets?after=', AFTER],
  ['pets?after=9223372036854775808', AFTER],
  ['pets?stauts=sold', 'stauts: is not a known parameter: limit, status, after'],
  ['pets?__proto__=5', '__proto__: is not a known parameter: limit, status, after'],
  ['pets?status=no', 'status: must be one of available, pending, sold'],
  [
    'store/orders?limit=0&status=no&after=x',
    `${LIMIT}; status: must be one of placed, approved, delivered, cancelled; ${AFTER}`,
  ],
])('the list %s is a 400', (path, message) => expectInvalid(`/v1/${path}`, message));

test('a page begins after any id, whether it exists or not', async () => {
  await seedStore(store, 12);
  expect(await pagesFrom('/v1/pets?limit=3&after=8')).toEqual(['9 10 11', '12']);
  expect(await pagesFrom('/v1/pets?status=sold&after=3')).toEqual(['6 10']);
  const smallest = '/v1/pets?limit=100&after=-9223372036854775808&status=pending';
  expect(await pagesFrom(smallest)).toEqual(['1 4 5 8 9 12']);
  expect(await pagesFrom('/v1/pets?after=9223372036854775807')).toEqual(['']);
});

test('a page begins exactly after an id beyond 2^53', async () => {
  await store.exec(
    `INSERT INTO pets (id, name, category_id)
     VALUES (9007199254740992, 'a', 1), (9007199254740993, 'b', 1), (9007199254740994, 'c', 1)`,
  );
  const reply = await store.fetch('/v1/pets?limit=1&after=9007199254740992');
  expect(reply.text).toBe('[{"id":9007199254740993,"name":"b","categoryId":1}]');
  expect(reply.headers.get('link')).toBe(
    `<${store.url()}/v1/pets?limit=1&after=9007199254740993>; rel="next"`,
  );
});

test('the page after the id 0 begins with the id 1', async () => {
  await store.exec("INSERT INTO pets (id, name, category_id) VALUES (-1, 'a', 1), (1, 'b', 1)");
  expect(await pagesFrom('/v1/pets?after=0')).toEqual(['1']);
});

test('Link is built from the validated values, not from the text of the request', async () => {
  await seedStore(store, 12);
  const reply = await store.fetch('/v1/pets?after=-0001&st%61tus=%73old&limit=002');
  expect(reply.headers.get('link')).toBe(
    `<${store.url()}/v1/pets?limit=2&status=sold&after=6>; rel="next"`,
  );
});
