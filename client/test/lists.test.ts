/** Lists: pages, items, and the Link header. */
import { expect, test } from 'vitest';
import { DEFAULT_LIMITS } from '../src/options.ts';
import { listOf } from '../src/pages.ts';
import { clientWith, headerOf, pathsOf, reply } from './fake.ts';

/** A page of animals, and where its `Link` leads. The client knows no name of a parameter. */
const page = (body: string, next: string) =>
  reply(body, { headers: { Link: `<${next}>; rel="next"` } });

test('the next page is fetched from the address of the client, whatever Link says', async () => {
  const baseUrl = 'https://animal-store.example/proxy/v1/';
  const { store, requests } = clientWith(
    [page('[{"id":1}]', 'https://elsewhere.example/?begin=1'), reply('[{"id":3}]')],
    { baseUrl },
  );
  const { items, next } = await store.listPets({ limit: 2 }).page();
  expect([items, next]).toEqual([[{ id: 1n }], '?begin=1']);
  // Its query replaces that of the list.
  const second = await store.listPets({ status: 'sold' }).page(next);
  expect(second).toMatchObject({ items: [{ id: 3n }], next: undefined });
  expect(pathsOf(requests)).toEqual(['GET /proxy/v1/pets?limit=2', 'GET /proxy/v1/pets?begin=1']);
});

test.each([
  ['<http://?x=1?>; rel="next"', '?x=1?'],
  ['<?x=1>;rel=next', '?x=1'],
  ['</a.css?v=1>; rel=preload; as=style, <?x=1>; title="a"; rel="next"', '?x=1'],
  ['<?x=1>; rel="nextish"', undefined],
])('Link: %s leads to %s', async (Link, next) => {
  const { store } = clientWith([reply('[]', { headers: { Link } })]);
  expect((await store.listPets().page()).next).toBe(next);
});

test.each([
  { rule: 'go round in a circle', bodies: ['[1]', '[1]', '[1]'], links: ['?a', '?b', '?a'] },
  { rule: 'are empty', bodies: ['[1]', '[]'], links: ['?a', '?b'] },
])('pages that $rule are an invalid_response, not a loop', async ({ bodies, links }) => {
  const pages = bodies.map((body, i) => page(body, links[i] ?? ''));
  const { store, requests } = clientWith(pages);
  const message = 'The pages do not end.';
  const failure = { code: 'invalid_response', message, status: 200, attempts: 1 };
  await expect(store.listPets().toArray({ max: 9 })).rejects.toMatchObject(failure);
  expect(requests).toHaveLength(pages.length);
});

test.each(['/../store/orders?limit=1', null])('page(%j) is a TypeError', async (next) => {
  const { store, requests } = clientWith([reply('[]')]);
  const call = Reflect.apply(store.listPets().page, undefined, [next]);
  await expect(call).rejects.toThrow(new TypeError('next: must start with ?'));
  expect(requests).toEqual([]);
});

test('for await reads all pages, of 100 items unless the list has a limit', async () => {
  const { store, requests } = clientWith([page('[{"id":1},{"id":2}]', '?a'), reply('[{"id":3}]')]);
  const ids: bigint[] = [];
  const query = { status: 'sold', limit: undefined };
  const options = { headers: { traceparent: 'mine' } };
  for await (const { id } of store.listPets(query, options)) ids.push(id);
  for await (const { id } of store.listPets({ limit: 7 })) ids.push(id);
  expect(ids).toEqual([1n, 2n, 3n, 3n]);
  expect(pathsOf(requests)).toEqual([
    'GET /v1/pets?status=sold&limit=100',
    'GET /v1/pets?a',
    'GET /v1/pets?limit=7',
  ]);
  expect(headerOf(requests, 'traceparent')).toEqual(['mine', 'mine', null]);
});

test('toArray reads the first items, with as few requests as possible', async () => {
  const pages = [page('[{"id":1},{"id":2}]', '?a'), page('[{"id":3},{"id":4}]', '?b')];
  const { store, requests } = clientWith([...pages, reply('[]')]);
  expect(await store.listPets().toArray({ max: 3 })).toEqual([{ id: 1n }, { id: 2n }, { id: 3n }]);
  expect(await store.listPets({ status: undefined }).toArray({ max: 500 })).toEqual([]);
  expect(await store.listPets().toArray({ max: 1 })).toEqual([]);
  expect(pathsOf(requests)).toEqual([
    'GET /v1/pets?limit=3',
    'GET /v1/pets?a',
    'GET /v1/pets?limit=100',
    'GET /v1/pets?limit=1',
  ]);
});

/** Callers in JavaScript. */
test.each([null, { max: 0 }, { max: 1.5 }])(
  'toArray(%o) is a TypeError that names max',
  async (options) => {
    const { store, requests } = clientWith([reply('[]')]);
    const call = Reflect.apply(store.listPets().toArray, undefined, [options]);
    await expect(call).rejects.toThrow(new TypeError('max: must be an integer above 0'));
    expect(requests).toEqual([]);
  },
);

// The store has no such list yet.
test('each page of a list below other resources keeps their ids', async () => {
  const answers = [page('[{"id":1}]', '?after=1'), reply('[{"id":2}]')];
  const { options, requests } = clientWith(answers);
  const route = '/shelters/{shelterId}/pets/{petId}/orders';
  const ids = { shelterId: 7n, petId: -8n };
  const orders = listOf({ ...options, ...DEFAULT_LIMITS }, route, { limit: 1 }, undefined, ids);
  expect(await orders.toArray({ max: 9 })).toEqual([{ id: 1n }, { id: 2n }]);
  expect(pathsOf(requests)).toEqual([
    'GET /v1/shelters/7/pets/-8/orders?limit=1',
    'GET /v1/shelters/7/pets/-8/orders?after=1',
  ]);
});
