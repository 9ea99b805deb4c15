/** Lists and sessions. */
import { expect, test } from 'vitest';
import { clientWith, headerOf, lost, problem, reply, rex, unavailable } from './fake.ts';

/** A page of a deprecated operation, with a next page. */
const page = (body: string, next: string) => {
  const Link = `<?>; rel=a, <https://elsewhere.example/?${next}>; rel="next", <?>; rel=b`;
  return reply(body, { headers: { Link } });
};

test('a list is all items, from pages of 100 by default, or one page', async () => {
  const answers = [page('[{"id":1},{"id":2}]', 'a=1'), reply('[{"id":3}]'), page('[]', 'b=2')];
  const { store, lines } = clientWith([...answers, reply('[]')]);
  expect(await Array.fromAsync(store.listPets({ status: 'a newer status' }))).toEqual([
    { id: 1n },
    { id: 2n },
    { id: 3n },
  ]);
  const list = store.listPets({ limit: 1, status: undefined });
  expect(await list.page()).toEqual({ items: [], next: 'b=2' });
  // A `next` that a web page sends to its server cannot lead to another operation.
  expect(await list.page('/../store/orders')).toEqual({ items: [], next: undefined });
  expect(await Array.fromAsync(list)).toEqual([]);
  expect(lines).toEqual([
    'GET /pets?limit=100&status=a+newer+status',
    // With the address of the client, not that of the link.
    'GET /pets?a=1',
    'GET /pets?limit=1',
    'GET /pets?/../store/orders',
    'GET /pets?limit=1',
  ]);
});

test.each([
  ['empty pages', '[]', 1],
  ['the same page again', '[{"id":1}]', 2],
])('%s without an end are an error, not a loop', async (_, body, count) => {
  const { store, requests } = clientWith([page(body, 'a=1')]);
  await expect(Array.fromAsync(store.listPets())).rejects.toMatchObject({
    code: 'invalid_response',
    message: 'The pages have no end.',
    outcomeUnknown: false,
  });
  expect(requests).toHaveLength(count);
});

const stamped = (bookmark: string) => reply('{"id":1}', { headers: { 'X-D1-Bookmark': bookmark } });

test.each([
  [
    'the newest bookmark, in whatever order responses arrive',
    [stamped('0002'), stamped('0001'), problem(404, 'a', { 'X-D1-Bookmark': '0003' }), rex],
    ['first-primary', '0002', '0002', '0003'],
  ],
  [
    'first-primary after a 503, and its bookmark after other failures of reads',
    [stamped('0001'), problem(500, 'a'), lost, unavailable, rex],
    ['first-primary', '0001', '0001', '0001', 'first-primary'],
  ],
])('a session sends %s', async (_, answers, sent) => {
  const { store, requests } = clientWith(answers, { maxAttempts: 1 });
  const session = store.session();
  for (const _ of answers) await session.getPet(1n).catch(String);
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual(sent);
});

test('a session continues from the primary after a write that may have been carried out', async () => {
  const { promise, resolve } = Promise.withResolvers<Response>();
  const answers = [stamped('0001'), () => promise, lost, stamped('0003')];
  const { store, requests } = clientWith(answers);
  const session = store.session();
  await session.getPet(1n);
  const earlier = session.getPet(1n);
  await session.updatePet(1n, {}).catch(String);
  resolve(await stamped('0002')());
  await earlier;
  await session.getPet(1n);
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual([
    'first-primary',
    '0001',
    '0001',
    'first-primary',
  ]);
});

test('an earlier session can be continued, and other calls send no bookmark', async () => {
  const { store, requests } = clientWith([rex, unavailable, stamped('0002')]);
  const session = store.session('first-unconstrained');
  for (const each of [store.session('0001'), store, store, session]) await each.getPet(1n);
  expect(headerOf(requests, 'X-D1-Bookmark')).toEqual([
    '0001',
    null,
    null,
    null,
    'first-unconstrained',
  ]);
  expect([store.bookmark, session.bookmark]).toEqual([undefined, '0002']);
});
