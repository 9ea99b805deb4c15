/** listPets and listOrders: their pages, and the queries that they reject. */
import { expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { deletePet, expectError, insertPets, seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

/** The ids of a page, such as `1 2 3`, and the path of the next page. */
async function readPage(path: string): Promise<{ ids: string; next: string | undefined }> {
  const { text, headers } = await store.fetch(path);
  const ids = Array.from(text.matchAll(/\{"id":(-?[0-9]+)/g), ([, id]) => id);
  const link = /^<http:\/\/[^/]+(\/[^>]+)>; rel="next"$/.exec(headers.get('link') ?? '');
  return { ids: ids.join(' '), next: link?.[1] };
}

/** The ids of each page from this path to the last. */
async function pagesFrom(path: string): Promise<string[]> {
  const pages: string[] = [];
  for (let next: string | undefined = path; next; ) {
    const page = await readPage(next);
    pages.push(page.ids);
    expect(pages.length, 'the pages do not end').toBeLessThan(10);
    next = page.next;
  }
  return pages;
}

test('a page has 20 items by default, at most 100, and a Link to the next', async () => {
  await seedStore(store, 101);
  const reply = await store.fetch('/v1/pets');
  expect(reply.body).toHaveLength(20);
  expect(reply.headers.get('link')).toBe(`<${store.url()}/v1/pets?limit=20&after=20>; rel="next"`);
  expect((await store.fetch('/v1/pets?limit=100')).body).toHaveLength(100);
});

test.each([
  { path: '/v1/pets', status: 'sold' },
  { path: '/v1/store/orders', status: 'delivered' },
])('the pages of $path have each item once, and the last has no Link', async (list) => {
  await seedStore(store, 12);
  expect(await pagesFrom(`${list.path}?limit=7`)).toEqual(['1 2 3 4 5 6 7', '8 9 10 11 12']);
  expect(await pagesFrom(`${list.path}?limit=6`)).toEqual(['1 2 3 4 5 6', '7 8 9 10 11 12']);
  expect(await pagesFrom(`${list.path}?limit=2&status=${list.status}`)).toEqual(['2 6', '10']);
});

test('no animal is skipped or repeated while others are added and deleted', async () => {
  await insertPets(store, 'sold', 'sold', 'sold', 'sold', 'sold');
  const first = await readPage('/v1/pets?limit=2');
  await store.create({ name: 'Max', categoryId: 3 });
  await deletePet(store, 2);
  const second = await readPage(first.next ?? '');
  await store.create({ name: 'Tom', categoryId: 3 });
  await deletePet(store, 4);
  const others = await pagesFrom(second.next ?? '');
  expect([first.ids, second.ids, ...others]).toEqual(['1 2', '3 4', '5 6', '7']);
});

test('pages keep every digit of ids, with and without a filter', async () => {
  const ids = [
    ...['-9223372036854775808', '-1', '0'],
    ...['9007199254740992', '9007199254740993', '9223372036854775807'],
  ];
  await store.exec(
    `INSERT INTO pets (id, name, category_id, status) SELECT value, 'Rex', 1, 'sold' FROM json_each('[${ids}]')`,
  );
  expect(await pagesFrom('/v1/pets?limit=1')).toEqual(ids);
  expect(await pagesFrom('/v1/pets?limit=1&status=sold')).toEqual(ids);
});

const LIMIT = 'limit: must be an integer from 1 to 100';
const AFTER = 'after: must be an integer from -9223372036854775808 to 9223372036854775807';

const PARAMETERS = 'is not a known parameter: limit, status, after';
const LIMITS = [
  ...['', '0', '101', '-5', '5.0', '1e1', '0x10', '%2B5', '%205', '5%0A', 'abc', '%EF%BC%95'],
];

test.each([
  ...LIMITS.map((limit) => [`pets?limit=${limit}`, LIMIT]),
  ['pets?limit=5&limit=5', 'limit: must be given only once'],
  ['pets?after=', AFTER],
  ['pets?after=9223372036854775808', AFTER],
  ['pets?stauts=sold&__proto__=5', `stauts: ${PARAMETERS}; __proto__: ${PARAMETERS}`],
  [
    'store/orders?limit=0&status=no&after=x',
    `${LIMIT}; status: must be one of placed, approved, delivered, cancelled; ${AFTER}`,
  ],
])('the list %s is a 400', async (path, message) => {
  expectError(await send('GET', `/v1/${path}`), 400, 'invalid_request', message);
});

test('a limit of a thousand digits is a 400', async () => {
  const path = `/v1/pets?limit=${'9'.repeat(1000)}`;
  expectError(await send('GET', path), 400, 'invalid_request', LIMIT);
});

test('a page begins after any id, whether it exists or not', async () => {
  await seedStore(store, 12);
  await store.exec('DELETE FROM pets WHERE id = 8');
  expect(await pagesFrom('/v1/pets?limit=3&after=8')).toEqual(['9 10 11', '12']);
  expect(await pagesFrom('/v1/pets?status=sold&after=3')).toEqual(['6 10']);
  expect(await pagesFrom('/v1/pets?after=9223372036854775807')).toEqual(['']);
});

test('Link is built from the validated values, not from the text of the request', async () => {
  await seedStore(store, 12);
  const reply = await store.fetch('/v1/pets?after=-0001&st%61tus=%73old&limit=002');
  expect(reply.headers.get('link')).toBe(
    `<${store.url()}/v1/pets?limit=2&status=sold&after=6>; rel="next"`,
  );
});
