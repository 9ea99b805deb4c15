import { beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/key-format.ts';
import { errorOf } from '../contract.ts';
import { SMALL_LIMIT as LIMIT } from '../server.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore({ faults: true });

/** More than two windows allow, so that some requests are rejected even if a new window starts in between. */
const TOO_MANY = 2 * LIMIT + 1;

/** Sends more requests than the limit allows, one after another, and returns their distinct statuses in order. */
async function statusesOf(request: () => Promise<Reply>): Promise<number[]> {
  const statuses: number[] = [];
  for (let i = 0; i < TOO_MANY; i += 1) statuses.push((await request()).status);
  return [...new Set(statuses)];
}

function listWith(key: string, headers: Record<string, string> = {}): Promise<Reply> {
  return store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}`, ...headers } });
}

describe('the limit of a key', () => {
  beforeEach(() => store.fault({ limited: 'RATE_LIMITER' }));

  test('the limit of a key applies to that key only', async () => {
    const [one, other] = [await store.issueKey({ id: 'one' }), await store.issueKey()];
    const replies: Reply[] = [];
    for (let i = 0; i < TOO_MANY; i += 1) replies.push(await listWith(one));
    const isRejected = ({ status }: Reply) => status === 429;
    expect(replies.findIndex(isRejected)).toBeGreaterThanOrEqual(LIMIT);
    const rejected = replies.filter(isRejected);
    expect(await store.calls()).toMatchObject({ d1: TOO_MANY - rejected.length });
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
    'no limit applies while the limiters %s, and the line says why',
    async (limiters, cause) => {
      await store.fault({ limiters });
      expect(await store.create({ name: 'Rex', categoryId: 1 })).toMatchObject({ status: 201 });
      const [line] = await store.logLines();
      expect(line?.limiterFailures).toEqual([
        `RATE_LIMITER: Error: ${cause}`,
        `WRITE_RATE_LIMITER: Error: ${cause}`,
      ]);
    },
  );
});

test('rotated keys have limits of their own', async () => {
  await listWith(await store.issueKey({ id: 'second', family: 'first' }));
  expect(await store.calls()).toMatchObject({ last: { limit: { key: 'second' } } });
});

describe('the limit of writes', () => {
  beforeEach(() => store.fault({ limited: 'WRITE_RATE_LIMITER' }));

  // That every other operation that writes has the scope write: scopes.test.ts.
  test('the limit of writes counts writes, permitted or not', async () => {
    for (const [scopes, status] of [
      [['write'], 404],
      [['read'], 403],
    ] as const) {
      const headers = { authorization: `Bearer ${await store.issueKey({ scopes })}` };
      const remove = () => store.fetch('/v1/pets/77', { method: 'DELETE', headers });
      expect(await statusesOf(remove)).toEqual([status, 429]);
    }
  });

  test('the limit of writes counts no reads', async () => {
    const key = await store.issueKey();
    expect(await statusesOf(() => listWith(key))).toEqual([200]);
  });
});

test.each([
  ['unknown', undefined, 'invalid_api_key'],
  ['revoked', { revokedAt: '2026-11-20T00:00:00Z' }, 'revoked_api_key'],
])(
  'a flood of requests with one %s key is a 401 each time, never a 429',
  async (_, record, code) => {
    await store.fault({ limited: 'RATE_LIMITER' });
    const key = record ? await store.issueKey(record) : generateKey('local');
    for (let i = 0; i < TOO_MANY; i += 1) {
      expect(await listWith(key)).toMatchObject({ status: 401, body: { code } });
    }
    expect(await store.calls()).toMatchObject({ keyLimits: 0, d1: 0 });
  },
);
