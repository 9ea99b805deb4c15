/** When a request reads KV. The rules for the age of a cached record: cache.test.ts. */
import { expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { errorOf } from '../contract.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore({ faults: true });

const HOUR = 3_600_000;
const FAILURES = [
  ['throws', 'KV GET failed: 500 Internal Server Error'],
  ['hangs', 'KV did not respond within 2000 ms'],
] as const;
const REVOKED = { revokedAt: '2026-11-20T00:00:00Z' };

function list(key: string): Promise<Reply> {
  return store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
}

const listed = (count: number) => Array(count).fill(expect.objectContaining({ status: 200 }));
const rejected = (code: string) => ({ body: { code } });

test('concurrent requests with a new key share one read, and later requests read nothing', async () => {
  await store.fault({ kv: 'is slow' });
  const key = await store.issueKey();
  for (let round = 0; round < 2; round += 1) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => list(key)));
    expect(replies).toEqual(listed(20));
  }
  expect(await store.calls()).toMatchObject({ kvReads: 1, addressLimits: 0 });
});

test('a record older than ten seconds is used while one read refreshes it', async () => {
  const key = await store.issueKey();
  await list(key);
  // A request that waited for KV would get a 503.
  await store.fault({ kv: 'hangs', ahead: 15_000 });
  expect(await Promise.all(Array.from({ length: 20 }, () => list(key)))).toEqual(listed(20));
  expect(await store.calls()).toMatchObject({ kvReads: 1, d1: 20 });
});

test('a revoked key is rejected after its record was refreshed', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  await list(key);
  await store.putRecord(key, { id: 'leaked', ...REVOKED });
  await store.fault({ ahead: 15_000 });
  expect(await list(key)).toMatchObject({ status: 200 });
  await expect.poll(() => list(key)).toMatchObject(rejected('revoked_api_key'));
});

test.each([
  ['malformed', 0, () => 'garbage'],
  ['foreign', 0, () => generateKey('staging')],
  ['unknown', 2, () => generateKey('local')],
])('requests with one %s key read KV %i times, and do not reach D1', async (_, kvReads, keyOf) => {
  const key = keyOf();
  expect(await list(key)).toMatchObject(rejected('invalid_api_key'));
  expect(await list(key)).toMatchObject(rejected('invalid_api_key'));
  expect(await store.calls()).toMatchObject({ kvReads, addressLimits: kvReads, d1: 0 });
});

test('a key that expires while it is cached stops working at once', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + HOUR).toISOString() });
  await store.fault({ ahead: HOUR - 5_000 });
  expect(await list(key)).toMatchObject({ status: 200 });
  await store.fault({ ahead: HOUR });
  expect(await list(key)).toMatchObject(rejected('expired_api_key'));
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
});

test.each(FAILURES)(
  'while KV %s, a new key is a 503, and the cause is logged',
  async (kv, cause) => {
    const issued = await store.issueKey();
    await store.fault({ kv });
    for (const key of [issued, generateKey('local')]) {
      const { status, headers, body } = await list(key);
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
      expect(headers.has('www-authenticate')).toBe(false);
      expect(errorOf(body)).toBe('503 service_unavailable: API keys cannot be verified right now.');
    }
    expect(await store.calls()).toMatchObject({ d1: 0 });
    const lines = await store.logLines();
    expect(lines).toEqual(Array(2).fill(expect.objectContaining({ status: 503, cause })));
    await store.fault({});
    expect(await list(issued)).toMatchObject({ status: 200 });
  },
);

test.each(FAILURES)('while KV %s, a cached key stays active or revoked for an hour', async (kv) => {
  const active = await store.issueKey({ id: 'active' });
  const revoked = await store.issueKey({ id: 'revoked', ...REVOKED });
  await list(active);
  await list(revoked);
  for (const ahead of [30_000, HOUR]) {
    await store.fault({ kv, ahead });
    expect(await list(active)).toMatchObject({ status: 200 });
    expect(await list(revoked)).toMatchObject(rejected('revoked_api_key'));
  }
  await store.fault({ kv, ahead: HOUR + 10_000 });
  expect(await list(active)).toMatchObject(rejected('service_unavailable'));
  expect(await list(revoked)).toMatchObject(rejected('service_unavailable'));

  const lines = (await store.logLines()).filter(({ keyId }) => keyId === 'active');
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, true, true]);
});

test('a failed refresh is logged with the next request, and ends when KV works again', async () => {
  const key = await store.issueKey({ id: 'back' });
  await list(key);
  await store.fault({ kv: 'throws', ahead: 15_000 });
  await list(key);
  await list(key);
  await store.putRecord(key, { id: 'back', ...REVOKED });
  await store.fault({ ahead: 40_000 });
  expect(await list(key)).toMatchObject(rejected('revoked_api_key'));
  const lines = await store.logLines();
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, undefined, true, undefined]);
});
