import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

test('a response has no bookmark if the request has none', async () => {
  expect((await store.create({ name: 'Rex', categoryId: 1 })).headers.has('x-d1-bookmark')).toBe(
    false,
  );
  expect((await store.fetch('/v1/pets')).headers.has('x-d1-bookmark')).toBe(false);
});

test.each(['first-unconstrained', 'first-primary'])(
  'every response to %s has a bookmark',
  async (sent) => {
    const headers = { 'x-d1-bookmark': sent };
    const created = await store.create({ name: 'Rex', categoryId: 1 }, { headers });
    expect(created.status).toBe(201);
    const bookmark = created.headers.get('x-d1-bookmark') ?? '';
    expect(bookmark).toMatch(BOOKMARK);
    const next = { 'x-d1-bookmark': bookmark };
    const { id } = created.body as { id: number };
    const listed = await store.fetch('/v1/pets', { headers: next });
    const found = await store.fetch(`/v1/pets/${id}`, { headers: next });
    const missing = await store.fetch('/v1/pets/0', { headers: next });
    expect([listed.text, found.text, missing.status]).toEqual([
      `[${created.text}]`,
      created.text,
      404,
    ]);
    for (const { headers } of [listed, found, missing]) {
      expect(headers.get('x-d1-bookmark')).toMatch(BOOKMARK);
    }
    const once = await store.create(
      { name: 'Rex', categoryId: 1 },
      {
        headers: { ...next, 'idempotency-key': 'k' },
      },
    );
    expect([once.status, once.headers.get('x-d1-bookmark')]).toEqual([
      201,
      expect.stringMatching(BOOKMARK),
    ]);
  },
);

test.each([
  'first,',
  'FIRST-PRIMARY',
  'first-primary, first-primary',
  'f'.repeat(257),
  "x'; DROP TABLE pets; --",
])('%j is malformed, and not returned', async (bookmark) => {
  for (const method of ['GET', 'POST']) {
    const reply = await store.fetch('/v1/pets', { method, headers: { 'x-d1-bookmark': bookmark } });
    expect(reply.status).toBe(400);
    expect(reply.body).toMatchObject({
      code: 'invalid_request',
      message: expect.stringMatching(/^X-D1-Bookmark: must be /),
    });
    expect(reply.headers.has('x-d1-bookmark')).toBe(false);
    expect(reply.text).not.toContain(bookmark);
  }
});

test('an empty bookmark is malformed', async () => {
  // The harness's own fetch leaves empty headers out.
  const headers = { authorization: `Bearer ${await store.issueKey()}`, 'x-d1-bookmark': '' };
  expect((await fetch(`${store.url()}/v1/pets`, { headers })).status).toBe(400);
});

test.each([
  'zzzzzzzz',
  '00000000-00000000-00000000',
  `ffffffff-ffffffff-ffffffff-${'f'.repeat(33)}`,
  `FFFFFFFF-ffffffff-ffffffff-${'f'.repeat(32)}`,
  'v2.bookmark_of-another:shape/that+may=come~',
])('the primary serves the unknown bookmark %j', async (bookmark) => {
  const headers = { 'x-d1-bookmark': bookmark };
  const created = await store.create({ name: 'Rex', categoryId: 1 }, { headers });
  const listed = await store.fetch('/v1/pets', { headers });
  expect([created.status, listed.status]).toEqual([201, 200]);
  expect(listed.text).toBe(`[${created.text}]`);
  for (const reply of [created, listed]) {
    expect(reply.headers.get('x-d1-bookmark')).toMatch(BOOKMARK);
  }
});

test('a forged bookmark of a future state does not delay a write, and is not returned', async () => {
  const forged = `ffffffff-ffffffff-ffffffff-${'f'.repeat(32)}`;
  const headers = { 'x-d1-bookmark': forged };
  const created = await store.create({ name: 'Rex', categoryId: 1 }, { headers });
  expect(created.status).toBe(201);
  expect(created.headers.get('x-d1-bookmark')).not.toBe(forged);
});
