/** When KV is read, over HTTP. Which record an isolate may use at what age: memory.test.ts. */
import { expect, test } from 'vitest';
import { generateKey } from '../../src/keys/format.ts';
import type { Failure } from '../faults/worker.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore({ faults: true });

const HOUR = 3_600_000;
const FAILURES: Failure[] = ['throws', 'hangs'];

function list(key: string): Promise<Reply> {
  return store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
}

async function code(key: string): Promise<string> {
  const { status, body } = await list(key);
  return status === 200 ? 'ok' : (body as { code: string }).code;
}

/** The answers to so many concurrent requests with a key. */
function codes(key: string, count: number): Promise<string[]> {
  return Promise.all(Array.from({ length: count }, () => code(key)));
}

/** Resolves once a refresh behind a response has changed what the key is answered. */
async function untilAnswered(key: string, answer: string): Promise<void> {
  await expect.poll(() => code(key)).toBe(answer);
}

test('concurrent requests with a new key share one read, and those after them read nothing', async () => {
  await store.fault({ kv: 'is slow' });
  const key = await store.issueKey();
  expect(new Set(await codes(key, 20))).toEqual(new Set(['ok']));
  expect(new Set(await codes(key, 20))).toEqual(new Set(['ok']));
  expect(await store.calls()).toMatchObject({ kvReads: 1, addressLimits: 0 });
});

test('a record of less than ten seconds is used as it is', async () => {
  const key = await store.issueKey();
  await list(key);
  await store.fault({ ahead: 9_000 });
  expect(await code(key)).toBe('ok');
  expect(await store.calls()).toMatchObject({ kvReads: 0, d1: 1 });
});

test('a record of ten seconds is used while one read refreshes it behind the responses', async () => {
  const key = await store.issueKey();
  await list(key);
  // A request that waited for KV would be answered 503.
  await store.fault({ kv: 'hangs', ahead: 15_000 });
  expect(new Set(await codes(key, 20))).toEqual(new Set(['ok']));
  expect(await store.calls()).toMatchObject({ kvReads: 1, d1: 20 });
});

test('a record of thirty seconds is not used before KV was read', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  expect(await code(key)).toBe('ok');
  await store.putRecord(key, { id: 'leaked', revokedAt: new Date().toISOString() });
  await store.fault({ ahead: 30_000 });
  expect(await code(key)).toBe('revoked_api_key');
});

test('a key that was revoked is refused once its record was read behind a response', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  expect(await code(key)).toBe('ok');
  await store.putRecord(key, { id: 'leaked', revokedAt: new Date().toISOString() });
  await store.fault({ ahead: 15_000 });
  expect(await code(key)).toBe('ok');
  await untilAnswered(key, 'revoked_api_key');
});

test.each(['garbage', `${generateKey('local').slice(0, -1)}~`, generateKey('staging')])(
  'the key %s, which is none of this environment, reads nothing and spends nothing',
  async (key) => {
    expect(await code(key)).toBe('invalid_api_key');
    expect(await store.calls()).toMatchObject({ kvReads: 0, addressLimits: 0, d1: 0 });
  },
);

test('an unknown key is read in KV each time, and does not reach the database', async () => {
  const key = generateKey('local');
  expect([await code(key), await code(key)]).toEqual(['invalid_api_key', 'invalid_api_key']);
  expect(await store.calls()).toMatchObject({ kvReads: 2, d1: 0 });
});

test('a key that expires while it is remembered stops working at once', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + HOUR).toISOString() });
  await store.fault({ ahead: HOUR - 5_000 });
  expect(await code(key)).toBe('ok');
  await store.fault({ ahead: HOUR });
  expect(await code(key)).toBe('expired_api_key');
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
});

test.each(FAILURES)('while KV %s, a key that was never seen is a 503', async (kv) => {
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
  const CAUSES = {
    throws: 'KV GET failed: 500 Internal Server Error',
    hangs: 'KV did not respond within 2000 ms',
  };
  for (const line of await store.logLines()) {
    expect(line).toMatchObject({ status: 503, cause: CAUSES[kv] });
  }
});

test.each(FAILURES)(
  'while KV %s, a key that was seen stays what it was for an hour',
  async (kv) => {
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
  },
);

test('a read that fails behind a response shows in the log of the requests after it', async () => {
  const key = await store.issueKey();
  await list(key);
  await store.fault({ kv: 'throws', ahead: 15_000 });
  await list(key);
  await list(key);
  const lines = await store.logLines();
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, undefined, true]);
});

test('while KV fails, a key that expires is refused, and KV is asked only now and then', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
  expect(await code(key)).toBe('ok');
  await store.fault({ kv: 'throws', ahead: 35_000 });
  for (let i = 0; i < 20; i += 1) expect(await code(key)).toBe('ok');
  expect(await store.calls()).toMatchObject({ kvReads: 1 });
  await store.fault({ kv: 'throws', ahead: 60_000 });
  expect(await code(key)).toBe('expired_api_key');
});

test('once KV is back, what it says holds', async () => {
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
  ['GET', '/v1/pets', {}],
  ['HEAD', '/v1/pets', {}],
  ['GET', '/v1/pets/1', {}],
  ['POST', '/v1/pets', { body: '{"name":"Rex","categoryId":1}' }],
])('%s %s is a 503 while KV fails, and answered as ever after it', async (method, path, body) => {
  const authorization = `Bearer ${await store.issueKey()}`;
  const headers = { authorization, 'content-type': 'application/json' };
  const send = () => store.fetch(path, { method, ...body, headers });
  await store.fault({ kv: 'throws' });
  expect((await send()).status).toBe(503);
  await store.fault({});
  expect([200, 201, 404]).toContain((await send()).status);
});
