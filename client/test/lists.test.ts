/** Lists and sessions. */
import { expect, test } from 'vitest';
import {
  clientWith,
  headerOf,
  itemsOf,
  lost,
  pathsOf,
  problem,
  reply,
  unavailable,
} from './fake.ts';

/** A page of a deprecated operation, with a next page. */
const page = (body: string, next: string) => {
  const links = '<https://a.example/b?c>; rel="deprecation", <https://elsewhere.example/?';
  return reply(body, { headers: { Link: `${links}${next}>; rel="next"` } });
};

test('for await reads all pages, of 100 items by default, from the address of the client', async () => {
  const pages = [page('[{"id":1},{"id":2}]', 'a=1'), reply('[{"id":3}]'), reply('[]')];
  const { store, requests } = clientWith(pages);
  const pets = await itemsOf(store.listPets({ status: 'sold' }));
  expect(pets).toEqual([{ id: 1n }, { id: 2n }, { id: 3n }]);
  expect(await itemsOf(store.listPets({ limit: 1 }))).toEqual([]);
  expect(pathsOf(requests)).toEqual([
    'GET /v1/pets?limit=100&status=sold',
    'GET /v1/pets?a=1',
    'GET /v1/pets?limit=1',
  ]);
});

test('page(next) continues where a page ends', async () => {
  const { store, requests } = clientWith([page('[{"id":1}]', 'a=1'), reply('[]')]);
  const first = await store.listPets({ limit: 1, status: undefined }).page();
  expect(first).toEqual({ items: [{ id: 1n }], next: 'a=1' });
  expect(await store.listPets().page('a=1')).toEqual({ items: [], next: undefined });
  // A `next` that a web page sends to its server cannot lead to another operation.
  await store.listPets().page('/../store/orders');
  expect(pathsOf(requests)).toEqual([
    'GET /v1/pets?limit=1',
    'GET /v1/pets?a=1',
    'GET /v1/pets?/../store/orders',
  ]);
});

test.each([
  ['empty pages', '[]', 1],
  ['the same page again', '[{"id":1}]', 2],
])('%s without an end are an error, not a loop', async (_, body, count) => {
  const { store, requests } = clientWith([page(body, 'a=1')]);
  await expect(itemsOf(store.listPets())).rejects.toMatchObject({ code: 'invalid_response' });
  expect(requests).toHaveLength(count);
});

const stamped = (bookmark: string) => reply('[]', { headers: { 'X-D1-Bookmark': bookmark } });

test.each([
  [
    'the newest bookmark, in whatever order responses arrive',
    [stamped('0002'), stamped('0001'), reply('[]'), stamped('0003'), reply('[]')],
    ['first-primary', '0002', '0002', '0002', '0003'],
  ],
  [
    'first-primary after a 503, and its bookmark after other failures of reads',
    [stamped('0001'), problem(500, 'a'), lost, unavailable, reply('[]')],
    ['first-primary', '0001', '0001', '0001', 'first-primary'],
  ],
])('a session sends %s', async (_, answers, sent) => {
  const { store, requests } = clientWith(answers, { maxAttempts: 1 });
  const session = store.session();
  for (const _ of answers) await session.listPets().page().catch(String);
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(sent);
});

test('a session continues from the primary after a write that may have been carried out', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const answers = [stamped('0001'), () => promise, lost, stamped('0003')];
  const { store, requests } = clientWith(answers);
  const session = store.session();
  await session.listPets().page();
  const earlier = session.listPets().page();
  await session.updatePet(1n, {}).catch(String);
  resolve(await stamped('0002')());
  await earlier;
  await session.listPets().page();
  const sent = ['first-primary', '0001', '0001', 'first-primary'];
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(sent);
});

test('an earlier session can be continued, and other calls send no bookmark', async () => {
  const { store, requests } = clientWith([reply('[]'), unavailable, stamped('0002')]);
  await store.session('0001').listPets().page();
  await store.listPets().page();
  await store.listPets().page();
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(['0001', null, null, null]);
});
