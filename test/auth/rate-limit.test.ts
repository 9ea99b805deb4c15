import { expect, test } from 'vitest';
import { errorOf } from '../support/contract.ts';
import { SMALL_LIMIT as LIMIT } from '../support/server.ts';
import { type Reply, startStore } from '../support/store.ts';
import { stubLimiters } from '../support/stubs.ts';

const store = startStore({ faults: true });

/** Sends more requests than two windows allow, so that some are rejected even if a new window starts in between. */
async function flood(request: () => Promise<Reply>) {
  const replies: Reply[] = [];
  while (replies.length <= 2 * LIMIT) replies.push(await request());
  return replies;
}

const statusesOf = (replies: Reply[]) => [...new Set(replies.map(({ status }) => status))];

const listWith = (key: string) => store.fetch('/v1/pets', { key });

test('the limit of a key applies to that key only', async () => {
  await store.fault({ limited: 'RATE_LIMITER' });
  const [one, other] = [await store.issueKey({ id: 'one' }), await store.issueKey()];
  const replies = await flood(() => listWith(one));
  const rejected = replies.filter(({ status }) => status === 429);
  expect(statusesOf(replies.slice(0, LIMIT))).toEqual([200]);
  expect(await store.calls()).toMatchObject({ d1: replies.length - rejected.length });
  expect(rejected[0]?.headers.get('retry-after')).toBe('10');
  expect(errorOf(rejected[0]?.body)).toBe(
    '429 rate_limited: Too many requests. Retry after the delay in Retry-After.',
  );
  expect(await listWith(other)).toMatchObject({ status: 200 });
  const line = expect.objectContaining({ code: 'rate_limited', keyId: 'one' });
  expect(await store.logLines()).toContainEqual(line);
});

test.each([
  ['throws', 'limiter unavailable'],
  ['hangs', 'The rate limiter did not respond within 500 ms'],
] as const)(
  'no limit applies while a limiter %s, and the line says why',
  async (limiters, cause) => {
    await store.fault({ limiters });
    expect(await store.createPet({ name: 'Rex', categoryId: 1 })).toMatchObject({ status: 201 });
    const [line] = await store.logLines();
    const failures = Object.keys(stubLimiters).map((name) => `${name}: Error: ${cause}`);
    // They fail at the same time, in any order.
    expect(line?.limiterFailures).toEqual(expect.arrayContaining(failures));
  },
);

test('a rotated key has limits of its own', async () => {
  const key = await store.issueKey({ id: 'second', family: 'first' });
  await store.fetch('/v1/pets/77', { method: 'DELETE', key });
  expect(await store.calls()).toMatchObject({ last: { limit: { key: 'second' } } });
});

// That every other operation that writes has the scope write: authenticate.test.ts.
test.each([
  { scopes: ['read', 'write'], status: 404 },
  { scopes: ['read'], status: 403 },
])('the limit of writes counts a DELETE with $scopes, and no GET', async (each) => {
  await store.fault({ limited: 'WRITE_RATE_LIMITER' });
  const key = await store.issueKey({ scopes: each.scopes });
  const remove = () => store.fetch('/v1/pets/77', { method: 'DELETE', key });
  expect(statusesOf(await flood(remove))).toEqual([each.status, 429]);
  expect(statusesOf(await flood(() => listWith(key)))).toEqual([200]);
});
