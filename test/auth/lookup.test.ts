/** When a request reads KV. The rules for the age of a cached record: cache.test.ts. */
import { expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import type { Failure } from '../faults/worker.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore({ faults: true });

const HOUR = 3_600_000;
const FAILURES: [failure: Failure, cause: string][] = [
  ['throws', 'KV GET failed: 500 Internal Server Error'],
  ['hangs', 'KV did not respond within 2000 ms'],
];

function list(key: string): Promise<Reply> {
  return store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
}

async function code(key: string): Promise<string> {
  const { status, body } = await list(key);
  return status === 200 ? 'ok' : (body as { code: string }).code;
}

/** The results of `count` concurrent requests with a key. */
function codes(key: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => code(key)));
}

test('concurrent requests with a new key share one read, and later requests read nothing', async () => {
  await store.fault({ kv: 'is slow' });
  const key = await store.issueKey();
  expect(new Set(await codes(key, 20))).toEqual(new Set(['ok']));
  expect(new Set(await codes(key, 20))).toEqual(new Set(['ok']));
  expect(await store.calls()).toMatchObject({ kvReads: 1, addressLimits: 0 });
});

test('a record younger than ten seconds is used without a read', async () => {
  const key = await store.issueKey();
  await list(key);
  await store.fault({ ahead: 9_000 });
  expect(await code(key)).toBe('ok');
  expect(await store.calls()).toMatchObject({ kvReads: 0, d1: 1 });
});

test('a record older than ten seconds is used while one read refreshes it after the responses', async () => {
  const key = await store.issueKey();
  await list(key);
  // A request that waited for KV would get a 503.
  await store.fault({ kv: 'hangs', ahead: 15_000 });
  expect(new Set(await codes(key, 20))).toEqual(new Set(['ok']));
  expect(await store.calls()).toMatchObject({ kvReads: 1, d1: 20 });
});

test('a record thirty seconds old is not used before KV is read', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  expect(await code(key)).toBe('ok');
  await store.putRecord(key, { id: 'leaked', revokedAt: new Date().toISOString() });
  await store.fault({ ahead: 30_000 });
  expect(await code(key)).toBe('revoked_api_key');
});

test('a revoked key is rejected after its record was refreshed', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  expect(await code(key)).toBe('ok');
  await store.putRecord(key, { id: 'leaked', revokedAt: new Date().toISOString() });
  await store.fault({ ahead: 15_000 });
  expect(await code(key)).toBe('ok');
  await expect.poll(() => code(key)).toBe('revoked_api_key');
});

test.each(['garbage', `${generateKey('local').slice(0, -1)}~`, generateKey('staging')])(
  'the key %s, which is malformed or of another environment, causes no read and no rate limit call',
  async (key) => {
    expect(await code(key)).toBe('invalid_api_key');
    expect(await store.calls()).toMatchObject({ kvReads: 0, addressLimits: 0, d1: 0 });
  },
);

test('each request with an unknown key reads KV, and does not reach D1', async () => {
  const key = generateKey('local');
  expect([await code(key), await code(key)]).toEqual(['invalid_api_key', 'invalid_api_key']);
  expect(await store.calls()).toMatchObject({ kvReads: 2, d1: 0 });
});

test('a key that expires while it is cached stops working at once', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + HOUR).toISOString() });
  await store.fault({ ahead: HOUR - 5_000 });
  expect(await code(key)).toBe('ok');
  await store.fault({ ahead: HOUR });
  expect(await code(key)).toBe('expired_api_key');
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
});

test.each(FAILURES)(
  'while KV %s, a new key is a 503, and the cause is logged',
  async (kv, cause) => {
    await store.fault({ kv });
    for (const key of [await store.issueKey(), generateKey('local')]) {
      const { status, headers, body } = await list(key);
      expect(status).toBe(503);
      expect(headers.get('retry-after')).toBe('5');
      expect(headers.has('www-authenticate')).toBe(false);
      expect(body).toEqual({
        code: 'service_unavailable',
        message: 'API keys cannot be verified right now.',
        status: 503,
      });
    }
    for (const line of await store.logLines()) expect(line).toMatchObject({ status: 503, cause });
  },
);

test.each(FAILURES)('while KV %s, a cached key stays active or revoked for an hour', async (kv) => {
  const valid = await store.issueKey({ id: 'valid' });
  const revoked = await store.issueKey({ id: 'revoked', revokedAt: new Date().toISOString() });
  const all = async () => [await code(valid), await code(revoked)];
  expect(await all()).toEqual(['ok', 'revoked_api_key']);

  await store.fault({ kv, ahead: 30_000 });
  expect(await all()).toEqual(['ok', 'revoked_api_key']);
  await store.fault({ kv, ahead: HOUR });
  expect(await all()).toEqual(['ok', 'revoked_api_key']);
  await store.fault({ kv, ahead: HOUR + 10_000 });
  expect(await all()).toEqual(['service_unavailable', 'service_unavailable']);

  const lines = (await store.logLines()).filter(({ keyId }) => keyId === 'valid');
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, true, true]);
});

test('a failed refresh is logged with the next request', async () => {
  const key = await store.issueKey();
  await list(key);
  await store.fault({ kv: 'throws', ahead: 15_000 });
  await list(key);
  await list(key);
  const lines = await store.logLines();
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, undefined, true]);
});

test('while KV fails, an expired key is rejected, and KV is not read by every request', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
  expect(await code(key)).toBe('ok');
  await store.fault({ kv: 'throws', ahead: 35_000 });
  for (let i = 0; i < 20; i += 1) expect(await code(key)).toBe('ok');
  expect(await store.calls()).toMatchObject({ kvReads: 1 });
  await store.fault({ kv: 'throws', ahead: 60_000 });
  expect(await code(key)).toBe('expired_api_key');
});

test('when KV works again, its record replaces the cached one', async () => {
  const key = await store.issueKey({ id: 'back' });
  await list(key);
  await store.fault({ kv: 'throws', ahead: 30_000 });
  await list(key);
  await store.putRecord(key, { id: 'back', revokedAt: new Date().toISOString() });
  await store.fault({ ahead: 40_000 });
  expect(await code(key)).toBe('revoked_api_key');
  const lines = await store.logLines();
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, true, undefined]);
});

test.each([
  ['GET', '/v1/pets', {}, 200],
  ['HEAD', '/v1/pets', {}, 200],
  ['GET', '/v1/pets/1', {}, 404],
  ['POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1}' }, 201],
])('%s %s is a 503 while KV fails, and works afterwards', async (method, path, body, status) => {
  const authorization = `Bearer ${await store.issueKey()}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const send = () => store.fetch(path, { method, ...body, headers });
  await store.fault({ kv: 'throws' });
  expect((await send()).status).toBe(503);
  await store.fault({});
  expect((await send()).status).toBe(status);
});
