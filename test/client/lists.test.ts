/** Lists: pages, items, and the Link header. */
import { expect, test } from 'vitest';
import { clientWith, reply } from './fake.ts';

/** A page of animals, and where its `Link` leads. */
const page = (body: string, next: string) =>
  reply(body, { headers: { Link: `<${next}>; rel="next"` } });
const queriesOf = (requests: Request[]) => requests.map(({ url }) => new URL(url).search);
// The client knows no name of a parameter.
const NEXT = '?limit=2&begin=4711';

test('the next page is fetched from the address of the client, whatever Link says', async () => {
  const answers = [page('[{"id":1}]', `https://elsewhere.example/${NEXT}`), reply('[{"id":3}]')];
  const baseUrl = 'https://proxy.example/store/v1/';
  const { store, requests } = clientWith(answers, { baseUrl });
  const first = await store.listPets({ limit: 2 }).page();
  expect(first).toMatchObject({ items: [{ id: 1n }], next: NEXT, metadata: { status: 200 } });
  expect(await store.listPets().page(first.next)).toMatchObject({ items: [{ id: 3n }] });
  expect(requests.map(({ url }) => url)).toEqual([
    'https://proxy.example/store/v1/pets?limit=2',
    `https://proxy.example/store/v1/pets${NEXT}`,
  ]);
});

test.each([
  ['<https://a.example/v1/pets?x=1>; rel="next"', '?x=1'],
  ['<http://?x=1>; rel="next"', '?x=1'],
  ['<?x=1>;rel=next', '?x=1'],
  ['<https://a.example/?y>; rel="prev", <?x=1>; rel="next"', '?x=1'],
  ['</style.css?v=1>; rel=preload; as=style, <?x=1>; title="a"; rel="next"', '?x=1'],
  ['<?x=1>; rel="nextish"', undefined],
  ['', undefined],
])('Link: %s leads to %s', async (Link, next) => {
  const { store } = clientWith([reply('[]', { headers: { Link } })]);
  expect((await store.listPets().page()).next).toBe(next);
});

// In quadratic time, one of them would take an hour.
test.each(['<', '<?', '<?>', '<?>;', '<?>; ', '?', ';', ' ', '; rel', '; rel="nex'])(
  'a million %j in a Link takes linear time',
  async (part) => {
    const text = part.repeat(1e6);
    const headers = { get: () => `<?a>;${text}!, <?${text}!` };
    const answer = async () => ({ status: 200, headers, text: async () => '[]' });
    expect((await clientWith([answer]).store.listPets().page()).next).toBe(undefined);
  },
);

test('a cycle of empty pages is an invalid_response, not a loop', async () => {
  const cycle = ['?a', '?b', '?a'].map((next) => page('[]', next));
  const { store, requests } = clientWith(cycle);
  const failure = { code: 'invalid_response', metadata: { status: 200 } };
  await expect(store.listPets().toArray({ max: 9 })).rejects.toMatchObject(failure);
  expect(queriesOf(requests)).toEqual(['?limit=9', '?a', '?b']);
});

test('for await reads all pages, of 100 items unless the list has a limit', async () => {
  const { store, requests } = clientWith([page('[{"id":1},{"id":2}]', NEXT), reply('[{"id":3}]')]);
  const ids: bigint[] = [];
  for await (const { id } of store.listPets({ status: 'sold', limit: undefined })) ids.push(id);
  for await (const { id } of store.listOrders({ limit: 7 })) ids.push(id);
  expect(ids).toEqual([1n, 2n, 3n, 3n]);
  expect(queriesOf(requests)).toEqual(['?status=sold&limit=100', NEXT, '?limit=7']);
});

test.each(['client', 'call'])('the signal of the %s stops a loop between items', async (of) => {
  const controller = new AbortController();
  const signalOf = (each: string) => (of === each ? { signal: controller.signal } : {});
  const { store } = clientWith([reply('[{"id":1},{"id":2}]')], signalOf('client'));
  const items = store.listOrders({}, signalOf('call'))[Symbol.asyncIterator]();
  expect(await items.next()).toMatchObject({ value: { id: 1n } });
  controller.abort('enough');
  await expect(items.next()).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
});

test('toArray reads the first items, with as few requests as possible', async () => {
  const two = '[{"id":1},{"id":2}]';
  const { store, requests } = clientWith([page(two, NEXT), page(two, '?more'), reply('[]')]);
  expect(await store.listPets().toArray({ max: 3 })).toEqual([{ id: 1n }, { id: 2n }, { id: 1n }]);
  expect(await store.listPets().toArray({ max: 500 })).toEqual([]);
  expect(queriesOf(requests)).toEqual(['?limit=3', NEXT, '?limit=100']);
  await expect(store.listPets().toArray({ max: 0 })).rejects.toThrow('max: ');
});
