/** `X-D1-Bookmark`: sessions that read their own writes from any replica. */
import { expect, test, vi } from 'vitest';
import { Database } from '../../src/d1/database.ts';
import { unavailableMessage } from '../../src/http/unavailable.ts';
import { expectError, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore();

const KNOWN = `${'0189abef-'.repeat(3)}${'0189abef'.repeat(4)}`;

const inSession = (bookmark: string | null) => ({ headers: { 'x-d1-bookmark': bookmark } });

test('a session reads its own writes, and every response has a bookmark', async () => {
  const first = await store.fetch('/v1/pets');
  const created = await store.createPet(
    { name: 'Rex', categoryId: 1 },
    inSession('first-unconstrained'),
  );
  const session = inSession(created.headers.get('x-d1-bookmark'));
  const listed = await store.fetch('/v1/pets', session);
  expect(listed.body).toEqual([created.body]);
  const missing = await store.fetch('/v1/pets/0', session);
  for (const { headers } of [first, created, listed, missing])
    expect(headers.has('x-d1-bookmark')).toBe(true);
});

test.each([
  ['no bookmark', null, 'first-primary'],
  ['first-primary', 'first-primary', 'first-primary'],
  ['first-unconstrained', 'first-unconstrained', 'first-unconstrained'],
  ['a bookmark of D1', KNOWN, KNOWN],
  ['a bookmark of a later format', `v2:${KNOWN}`, 'first-primary'],
  ['a longer bookmark', `${KNOWN}0`, 'first-primary'],
])('a session with %s begins where it can', async (_, bookmark, start) => {
  expect((await store.fetch('/v1/pets', inSession(bookmark))).status).toBe(200);
  expect((await store.calls()).sessions).toEqual([start]);
});

test('a write and the read after it share one session on the primary', async () => {
  // The order violates a constraint, and then its animal is read.
  const refused = await store.placeOrder({ petId: 7 }, inSession(KNOWN));
  expect(refused.status).toBe(404);
  expect((await store.calls()).sessions).toEqual(['first-primary']);
});

test('without a start, a database reads from the primary', () => {
  const withSession = vi.fn();
  new Database({ withSession } as never);
  expect(withSession).toHaveBeenCalledWith('first-primary');
});

test.each([KNOWN, 'first-unconstrained'])(
  'a read at %s that fails is a 503 that says to leave the bookmark out',
  async (bookmark) => {
    await store.fault({ d1: ['throws'] });
    const reply = await store.fetch('/v1/pets', inSession(bookmark));
    const unavailable = unavailableMessage(undefined, false);
    const message = `${unavailable} To read from the primary, leave out X-D1-Bookmark.`;
    expectError(reply, 503, 'service_unavailable', message);
    expect(reply.headers.has('x-d1-bookmark')).toBe(false);
  },
);
