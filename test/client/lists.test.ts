/** Lists: pages, items, and the Link header. */
import { expect, test } from 'vitest';
import { clientWith, json } from './fake.ts';

const pets = (...ids: number[]) => ids.map((id) => ({ id, name: 'Rex', categoryId: 1 }));
const linked = (ids: number[], target: string) =>
  json(pets(...ids), { Link: `<${target}>; rel="next"` });
const queriesOf = (requests: Request[]) => requests.map(({ url }) => new URL(url).search);
// The client knows no name of a parameter.
const NEXT = '?limit=2&begin=4711';

test.each([
  ['a proxy that changes the host', `http://internal:8080/v1/pets${NEXT}`],
  ['another server', `https://elsewhere.example/${NEXT}`],
  ['a target that is no URL', `http://${NEXT}`],
])('the next page is fetched from the address of the client: %s', async (_, target) => {
  const baseUrl = 'https://proxy.example/store/v1/';
  const { store, requests } = clientWith([linked([1, 2], target), json(pets(3))], { baseUrl });
  const first = await store.listPets({ limit: 2 }).page();
  expect([first.items.length, first.next]).toEqual([2, NEXT]);
  expect(await store.listPets().page(first.next)).toMatchObject({ items: [{ id: 3n }] });
  expect(requests.map(({ url }) => url)).toEqual([
    'https://proxy.example/store/v1/pets?limit=2',
    `https://proxy.example/store/v1/pets${NEXT}`,
  ]);
});

test('a cycle of empty pages is an invalid_response, not a loop', async () => {
  const { store, requests } = clientWith([
    linked([1], '?a'),
    linked([], '?b'),
    linked([], '?a'),
    linked([], '?b'),
  ]);
  const failure = { code: 'invalid_response', metadata: { status: 200 } };
  await expect(store.listPets().toArray({ max: 9 })).rejects.toMatchObject(failure);
  expect(queriesOf(requests)).toEqual(['?limit=9', '?a', '?b']);
});

test.each([
  [`<https://a.example/v1/pets${NEXT}>; rel="next"`, NEXT],
  [`<${NEXT}>;rel=next`, NEXT],
  [`<https://elsewhere.example/?x>; rel="prev", <${NEXT}>; rel="next"`, NEXT],
  [`</style.css?v=1>; rel=preload; as=style, <${NEXT}>; title="a"; rel="next"`, NEXT],
  [`<${NEXT}>; rel="nextish"`, undefined],
  ['', undefined],
])('Link: %s leads to %s', async (Link, next) => {
  const { store } = clientWith([json([], { Link })]);
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

test('for await reads all pages, of 100 items unless the list has a limit, until the loop stops', async () => {
  const { store, requests } = clientWith([linked([1, 2], NEXT), json(pets(3))]);
  const ids: bigint[] = [];
  for await (const { id } of store.listPets({ status: 'sold', limit: undefined })) ids.push(id);
  for await (const { id } of store.listOrders({ limit: 7 })) ids.push(id);
  for await (const _ of store.listPets()) break;
  expect(ids).toEqual([1n, 2n, 3n, 3n]);
  expect(queriesOf(requests)).toEqual(['?status=sold&limit=100', NEXT, '?limit=7', '?limit=100']);
});

test.each(['client', 'call'])('the signal of the %s stops a loop between items', async (of) => {
  const controller = new AbortController();
  const signalOf = (each: string) => (of === each ? { signal: controller.signal } : {});
  const { store } = clientWith([json(pets(1, 2, 3))], signalOf('client'));
  const items = store.listPets({}, signalOf('call'))[Symbol.asyncIterator]();
  expect(await items.next()).toMatchObject({ value: { id: 1n } });
  controller.abort('enough');
  await expect(items.next()).rejects.toMatchObject({ code: 'aborted', cause: 'enough' });
});

test('toArray reads the first items, with as few requests as possible', async () => {
  const { store, requests } = clientWith([linked([1, 2], NEXT), json(pets(3, 4))]);
  const found = await store.listPets().toArray({ max: 3 });
  expect(found.map(({ id }) => id)).toEqual([1n, 2n, 3n]);
  expect(queriesOf(requests)).toEqual(['?limit=3', NEXT]);
  expect(await store.listPets().toArray({ max: 500 })).toHaveLength(2);
  await expect(store.listPets().toArray({ max: 0 })).rejects.toThrow('max: ');
});
