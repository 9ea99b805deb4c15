/** `X-D1-Bookmark`: sessions that read their own writes from any replica. */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;
const REX = { name: 'Rex', categoryId: 1 };

test('a response has no bookmark if the request has none', async () => {
  expect((await store.create(REX)).headers.has('x-d1-bookmark')).toBe(false);
  expect((await store.fetch('/v1/pets')).headers.has('x-d1-bookmark')).toBe(false);
});

test.each(['first-unconstrained', 'first-primary'])(
  'a session that begins with %s reads its own writes',
  async (start) => {
    const created = await store.create(REX, { headers: { 'x-d1-bookmark': start } });
    const headers = { 'x-d1-bookmark': created.headers.get('x-d1-bookmark') ?? '' };
    const listed = await store.fetch('/v1/pets', { headers });
    const missing = await store.fetch('/v1/pets/0', { headers });
    const keyed = await store.create(REX, { headers: { ...headers, 'idempotency-key': 'k' } });
    expect(listed.text).toBe(`[${created.text}]`);
    expect([created.status, missing.status, keyed.status]).toEqual([201, 404, 201]);
    for (const reply of [created, listed, missing, keyed]) {
      expect(reply.headers.get('x-d1-bookmark')).toMatch(BOOKMARK);
    }
  },
);

test('an invalid bookmark is a 400, and not returned', async () => {
  const headers = { 'x-d1-bookmark': 'FIRST-PRIMARY' };
  const reply = await send('GET', '/v1/pets', undefined, headers);
  expect(errorOf(reply.body)).toBe(
    '400 invalid_request: X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response',
  );
  expect(reply.headers.has('x-d1-bookmark')).toBe(false);
});

test('a create with the bookmark of a later state returns another one', async () => {
  const bookmark = `ffffffff-ffffffff-ffffffff-${'f'.repeat(32)}`;
  const created = await store.create(REX, { headers: { 'x-d1-bookmark': bookmark } });
  expect(created.status).toBe(201);
  expect(created.headers.get('x-d1-bookmark')).toMatch(BOOKMARK);
  expect(created.headers.get('x-d1-bookmark')).not.toBe(bookmark);
});
