/** Lists: pages, items, and the Link header. */
import { expect, test } from 'vitest';
import { clientWith, headerOf, pathsOf, reply, unavailable } from './fake.ts';

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
  expect(await store.listPets().page(next)).toMatchObject({ items: [{ id: 3n }] });
  const sent = ['GET /proxy/v1/pets?limit=2', 'GET /proxy/v1/pets?begin=1'];
  expect(pathsOf(requests)).toEqual(sent);
});

test.each([
  ['<https://a.example/v1/pets?x=1>; rel="next"', '?x=1'],
  ['<http://?x=1>; rel="next"', '?x=1'],
  ['<?x=1>;rel=next', '?x=1'],
  ['<https://a.example/?y>; rel="prev", <?x=1>; rel="next"', '?x=1'],
  ['</a.css?v=1>; rel=preload; as=style, <?x=1>; title="a"; rel="next"', '?x=1'],
  ['<?x=1>; rel="nextish"', undefined],
  ['', undefined],
])('Link: %s leads to %s', async (Link, next) => {
  const { store } = clientWith([reply('[]', { headers: { Link } })]);
  expect((await store.listPets().page()).next).toBe(next);
});

// Linear time is some milliseconds, and quadratic time more than ten seconds.
test.each(['<', '<?', '<?>', '<?>;', '<?>; ', '?', ';', ' ', '; rel', '; rel="nex'])(
  '100,000 times %j in a Link takes linear time',
  { timeout: 5_000 },
  async (part) => {
    const text = part.repeat(1e5);
    const headers = { get: () => `<?a>;${text}!, <?${text}!` };
    const answer = async () => ({ status: 200, headers, text: async () => '[]' });
    expect((await clientWith([answer]).store.listPets().page()).next).toBe(undefined);
  },
);

const ENDLESS = 'The pages do not end.';

test('a cycle of pages is an invalid_response, not a loop', async () => {
  const cycle = ['?a', '?b', '?a'].map((next) => page('[{"id":1}]', next));
  const { store, requests } = clientWith(cycle);
  const failure = { code: 'invalid_response', message: ENDLESS, status: 200 };
  await expect(store.listPets().toArray({ max: 9 })).rejects.toMatchObject(failure);
  expect(requests).toHaveLength(3);
});

test('an empty page that leads to another one ends a loop, and page() returns it', async () => {
  const pages = [page('[{"id":1}]', '?a'), page('[]', '?b')];
  const { store, requests } = clientWith(pages);
  const failure = { code: 'invalid_response', message: ENDLESS, status: 200 };
  await expect(store.listPets().toArray({ max: 5 })).rejects.toMatchObject(failure);
  expect(requests).toHaveLength(2);
  expect(await store.listPets().page()).toMatchObject({ items: [], next: '?b' });
});

test.each(['/../store/orders?limit=1', '', '#', 'limit=1', ' ?limit=1', null, 7, {}])(
  'page(%j) is a TypeError, and sends nothing',
  async (next) => {
    const { store, requests } = clientWith([reply('[]')]);
    const call = Reflect.apply(store.listPets().page, undefined, [next]);
    await expect(call).rejects.toThrow(new TypeError('next: must start with ?'));
    expect(requests).toEqual([]);
  },
);

test('page(next) replaces the query of the list', async () => {
  const { store, requests } = clientWith([reply('[]')]);
  await store.listPets({ status: 'sold' }).page('?limit=1');
  expect(pathsOf(requests)).toEqual(['GET /v1/pets?limit=1']);
});

test('for await reads all pages, of 100 items unless the list has a limit', async () => {
  const { store, requests } = clientWith([page('[{"id":1},{"id":2}]', '?a'), reply('[{"id":3}]')]);
  const ids: bigint[] = [];
  for await (const { id } of store.listPets({ status: 'sold', limit: undefined })) ids.push(id);
  for await (const { id } of store.listPets({ limit: 7 })) ids.push(id);
  expect(ids).toEqual([1n, 2n, 3n, 3n]);
  const sent = ['GET /v1/pets?status=sold&limit=100', 'GET /v1/pets?a', 'GET /v1/pets?limit=7'];
  expect(pathsOf(requests)).toEqual(sent);
});

test('the options of a list apply to each of its pages', async () => {
  const { store, requests } = clientWith([page('[{"id":1}]', '?a'), unavailable]);
  const options = { headers: { traceparent: 'mine' }, maxAttempts: 1 };
  const failure = { code: 'service_unavailable', attempts: 1 };
  await expect(store.listPets({}, options).toArray({ max: 9 })).rejects.toMatchObject(failure);
  expect(headerOf(requests, 'traceparent')).toEqual(['mine', 'mine']);
});

test('toArray reads the first items, with as few requests as possible', async () => {
  const pages = [page('[{"id":1},{"id":2}]', '?a'), page('[{"id":3},{"id":4}]', '?b')];
  const { store, requests } = clientWith([...pages, reply('[]')]);
  expect(await store.listPets().toArray({ max: 3 })).toEqual([{ id: 1n }, { id: 2n }, { id: 3n }]);
  expect(await store.listPets({ status: undefined }).toArray({ max: 500 })).toEqual([]);
  expect(await store.listPets().toArray({ max: 1 })).toEqual([]);
  const first = ['GET /v1/pets?limit=3', 'GET /v1/pets?a'];
  const sent = [...first, 'GET /v1/pets?limit=100', 'GET /v1/pets?limit=1'];
  expect(pathsOf(requests)).toEqual(sent);
  await expect(store.listPets().toArray({ max: 0 })).rejects.toThrow('max: ');
});
