/** GET /v1/pets: listPets. */
import { expect, test } from 'vitest';
import { sendWithoutD1 } from '../support/in-process.ts';
import { exact, expectError, startStore } from '../support/store.ts';

const store = startStore();

test('lists the animals by ascending id, and answers HEAD without them', async () => {
  // As texts, '10' comes before '9'.
  await store.insertPet({ id: 10, name: 'Eve' });
  await store.insertPet({ id: 9, name: 'Rex', category_id: 4, status: 'sold' });
  const { status, body } = await store.fetch('/v1/pets');
  const rex = { id: 9, name: 'Rex', categoryId: 4, status: 'sold' };
  expect([status, body]).toEqual([200, [rex, { id: 10, name: 'Eve', categoryId: 3 }]]);
  const head = await store.fetch('/v1/pets', { method: 'HEAD' });
  const type = head.headers.get('content-type');
  expect([head.status, type, head.text]).toEqual([200, 'application/json', '']);
});

test('a page has 20 animals by default, and at most 100', async () => {
  await store.exec(
    `WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids LIMIT 101)
       INSERT INTO pets (name, category_id) SELECT 'Rex', 3 FROM ids`,
  );
  expect((await store.fetch('/v1/pets')).body).toHaveLength(20);
  expect((await store.fetch('/v1/pets?limit=100')).body).toHaveLength(100);
});

test.each(['available', 'pending', 'sold'])(
  'the filter %s selects the animals with that status, on all pages',
  async (status) => {
    for (const each of [status, 'available', 'pending', 'sold', null, status])
      await store.insertPet({ status: each });
    const all = Object((await store.fetch(`/v1/pets?status=${status}`)).body);
    expect(all).toMatchObject([{ id: 1, status }, { status }, { id: 6, status }]);
    const { body, headers } = await store.fetch(`/v1/pets?status=${status}&limit=2&after=1`);
    expect(body).toEqual(all.slice(1));
    // The last page is full, and yet has no Link.
    expect(headers.has('link')).toBe(false);
  },
);

test('Link has the validated values, not the text of the request', async () => {
  for (const id of [1, 2, 3]) await store.insertPet({ id, status: 'sold' });
  const { headers } = await store.fetch('/v1/pets?after=-0001&st%61tus=%73old&limit=002');
  const next = `${store.baseUrl()}/pets?limit=2&status=sold&after=2`;
  expect(headers.get('link')).toBe(`<${next}>; rel="next"`);
});

test('the pages, and each animal alone, keep every digit of the ids', async () => {
  const ids = [-(2n ** 63n), -1n, 0n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n];
  for (const id of ids) await store.insertPet({ id });
  let path = '/v1/pets?limit=1';
  for (const id of ids) {
    const reply = await store.fetch(path);
    expect(exact(reply)).toMatchObject([{ id }]);
    expect(exact(await store.fetch(`/v1/pets/${id}`))).toMatchObject({ id });
    path = `/v1/pets?limit=1&after=${id}`;
    const link = id === ids.at(-1) ? null : `<${store.url()}${path}>; rel="next"`;
    expect(reply.headers.get('link')).toBe(link);
  }
});

const INT64 = 'from -9223372036854775808 to 9223372036854775807';

test.each([
  ...['', '0', '101', '-5', '5.0', '1e1', '0x10', '%2B5', '%205', '5%0A', '%EF%BC%95'].map(
    (limit) => [`limit=${limit}`, 'limit: must be an integer from 1 to 100'],
  ),
  ['limit=5&limit=5', 'limit: must be given only once'],
  ['status=no', 'status: must be one of available, pending, sold'],
  ['after=9223372036854775808', `after: must be an integer ${INT64}`],
  [
    'after=&limit=0&stauts=sold',
    'limit: must be an integer from 1 to 100; ' +
      `after: must be an integer ${INT64}; stauts: is not a known parameter: limit, status, after`,
  ],
])('the query %s is a 400 that names every problem', async (query, message) => {
  const reply = await sendWithoutD1('GET', `/v1/pets?${query}`);
  expectError(reply, 400, 'invalid_request', message);
});
