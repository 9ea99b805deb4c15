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
  test('has 20 items by default, at most 100, and a Link to the next page', async () => {
    await seedStore(store, 101);
    const reply = await store.fetch(path);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body).toHaveLength(20);
    expect(reply.headers.get('link')).toMatch(
      new RegExp(`^<${store.url()}${path}\\?limit=20&cursor=[\\w-]+>; rel="next"$`),
    );
    expect((await store.fetch(`${path}?limit=100`)).body).toHaveLength(100);
  });

  test('has each item once, by ascending id, and no Link on a full last page', async () => {
    await seedStore(store, 6);
    expect(await pagesFrom(`${path}?limit=4`)).toEqual(['1 2 3 4', '5 6']);
    expect(await pagesFrom(`${path}?limit=3`)).toEqual(['1 2 3', '4 5 6']);
  });

  test.each(Object.entries(filtered))('of the status %s has no others', async (status, pages) => {
    await seedStore(store, 12);
    expect(await pagesFrom(`${path}?limit=2&status=${status}`)).toEqual(pages);
  });

  test('continues with another limit', async () => {
    await seedStore(store, 6);
    const next = nextPath(await store.fetch(`${path}?limit=2`)) ?? '';
    const larger = next.replace('limit=2', 'limit=3');
    expect(await pagesFrom(larger)).toEqual(['3 4 5', '6']);
  });

  test('keeps every digit of ids, with and without a filter', async () => {
    const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
    await store.exec(`${insert} FROM json_each('[${ids}]')`);
    expect(await pagesFrom(`${path}?limit=1`)).toEqual(ids);
    expect(await pagesFrom(`${path}?limit=1&${filter}`)).toEqual(ids);
  });
});

test('while animals are added and deleted, the pages have each remaining animal once', async () => {
  const ids = Array.from({ length: 12 }, (_, i) => i + 1);
  await store.exec(`INSERT INTO pets SELECT value, 'Rex', 3, 'sold' FROM json_each('[${ids}]')`);
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
const CURSOR = 'cursor: must be a cursor from the Link header of this list';
const FILTER = 'cursor: must be used with the status filter that it was made for';
const NAMELESS = 'query: every parameter must have a name';

async function expectInvalid(path: string, message: string): Promise<void> {
  expectError(await send('GET', path), 400, 'invalid_request', message);
}

test.each([
  ...['0', '101', '-5', '5.0', '1e1', '0x10', '%2B5', '%205', '5%0A', 'abc', '%EF%BC%95'],
  ...['', '9'.repeat(1000)],
])('the limit %s is not an integer from 1 to 100 in decimal digits', (limit) =>
  expectInvalid(`/v1/pets?limit=${limit}`, LIMIT),
);

describe.each([
  ['/v1/pets', 'status: must be one of available, pending, sold'],
  ['/v1/store/orders', 'status: must be one of placed, approved, delivered, cancelled'],
])('%s rejects', (path, statuses) => {
  test.each([
    ['limit=5&limit=5', 'limit: must be given only once'],
    ['status=SOLD', statuses],
    ['status=sold&status=sold', 'status: must be given only once'],
    ['cursor=', CURSOR],
    ['cursor=a&cursor=a', 'cursor: must be given only once'],
    ['stauts=sold', 'stauts: is not a known parameter, did you mean status?'],
    ['__proto__=5', '__proto__: is not a known parameter'],
    ['=5&limit=0', `${LIMIT}; ${NAMELESS}`],
    ['limit=0&status=no&cursor=x', `${LIMIT}; ${statuses}; ${CURSOR}`],
  ])('%s', (query, message) => expectInvalid(`${path}?${query}`, message));
});

describe('a cursor', () => {
  /** The `cursor` of the second page. */
  async function cursorOf(list: string): Promise<string> {
    const path = nextPath(await store.fetch(`${list}limit=1`)) ?? '';
    return new URL(path, store.url()).searchParams.get('cursor') ?? '';
  }

  test.each([
    ['/v1/pets?', '/v1/store/orders?', CURSOR],
    ['/v1/pets?status=sold&', '/v1/pets?limit=0&', `${LIMIT}; ${FILTER}`],
  ])('of %s is not one of %s', async (list, other, message) => {
    await seedStore(store, 12);
    await expectInvalid(`${other}cursor=${await cursorOf(list)}`, message);
  });

  test('is rejected when a character was changed, removed or added', async () => {
    await store.exec(
      "INSERT INTO pets VALUES (1234567890123456789, 'Rex', 3, NULL), (9000000000000000000, 'Rex', 3, NULL)",
    );
    const cursor = await cursorOf('/v1/pets?');
    expect((await store.fetch(`/v1/pets?cursor=${cursor}`)).status).toBe(200);
    const damaged = Array.from(cursor, (character, i) => {
      const [start, end] = [cursor.slice(0, i), cursor.slice(i + 1)];
      const swapped = character === 'x' ? 'y' : 'x';
      return [start, start + end, `${start}${swapped}${end}`];
    });
    for (const text of [...damaged.flat(), `${cursor}=`, `${cursor}A`]) {
      await expectInvalid(`/v1/pets?cursor=${text}`, CURSOR);
    }
  });

  test('made by version 1.0.0 stays valid', async () => {
    await seedStore(store, 12);
    // The list, the last id, the filter and their CRC-32: 1.pets.6.status=sold.2gwr52
    const cursor = 'MS5wZXRzLjYuc3RhdHVzPXNvbGQuMmd3cjUy';
    const reply = await store.fetch(`/v1/pets?status=sold&cursor=${cursor}`);
    expect(reply.body).toMatchObject([{ id: 10 }]);
  });
});
