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

test('1,000 requests with one key read KV once', async () => {
  const key = await store.issueKey();
  for (let i = 0; i < 1000; i += 50) {
    if (i === 0) await list(key);
    await Promise.all(Array.from({ length: 50 }, () => list(key)));
  }
  expect(await store.calls()).toMatchObject({ kvReads: 1, addressLimits: 0 });
});

test('after ten seconds the record is read again', async () => {
  const key = await store.issueKey();
  await list(key);
  await store.fault({ ahead: 5_000 });
  await list(key);
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
  await store.fault({ ahead: 10_000 });
  await list(key);
  expect(await store.calls()).toMatchObject({ kvReads: 1, addressLimits: 0 });
});

test('requests with keys that are no keys of this environment read nothing and spend nothing', async () => {
  for (const key of [
    'garbage',
    generateKey('local').slice(0, -1),
    `${generateKey('local').slice(0, -1)}~`,
    generateKey('staging'),
  ]) {
    for (let i = 0; i < 250; i += 25) {
      const replies = await Promise.all(Array.from({ length: 25 }, () => list(key)));
      for (const { status } of replies) expect(status).toBe(401);
    }
  }
  expect(await store.calls()).toMatchObject({ kvReads: 0, addressLimits: 0 });
});

test('the memory keeps the thousand keys read last, and guesses take no place in it', async () => {
  const [first, second] = [await store.issueKey(), await store.issueKey()];
  await list(first);
  await list(second);
  await Promise.all(Array.from({ length: 10 }, () => list(generateKey('local'))));
  const keys = await Promise.all(Array.from({ length: 999 }, () => store.issueKey()));
  for (let i = 0; i < keys.length; i += 37) await Promise.all(keys.slice(i, i + 37).map(list));

  // While KV fails, only keys in memory work.
  await store.fault({ kv: 'throws', ahead: 10_000 });
  expect(await code(second)).toBe('ok');
  expect(await code(first)).toBe('service_unavailable');
});

test('a key that expires while it is remembered stops working at once', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + HOUR).toISOString() });
  await store.fault({ ahead: HOUR - 5_000 });
  expect(await code(key)).toBe('ok');
  await store.fault({ ahead: HOUR });
  expect(await code(key)).toBe('expired_api_key');
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
});

test('a key that was revoked is refused once its record is read again', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  expect(await code(key)).toBe('ok');
  await store.putRecord(key, { id: 'leaked', revokedAt: new Date().toISOString() });
  expect(await code(key)).toBe('ok');
  await store.fault({ ahead: 10_000 });
  expect(await code(key)).toBe('revoked_api_key');
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
      message: 'API keys cannot be checked right now.',
      status: 503,
    });
  }
  const cause =
    kv === 'hangs'
      ? 'KV did not answer within 2000 ms'
      : 'KV GET failed: 500 Internal Server Error';
  for (const line of await store.logLines()) expect(line).toMatchObject({ status: 503, cause });
});

test.each(FAILURES)(
  'while KV %s, a key that was seen stays what it was for an hour',
  async (kv) => {
    const valid = await store.issueKey({ id: 'valid' });
    const revoked = await store.issueKey({ id: 'revoked', revokedAt: new Date().toISOString() });
    const expiring = await store.issueKey({
      expiresAt: new Date(Date.now() + 24 * HOUR).toISOString(),
    });
    const codes = async () => [await code(valid), await code(revoked), await code(expiring)];
    expect(await codes()).toEqual(['ok', 'revoked_api_key', 'ok']);

    await store.fault({ kv, ahead: 10_000 });
    expect(await codes()).toEqual(['ok', 'revoked_api_key', 'ok']);
    await store.fault({ kv, ahead: HOUR });
    expect(await codes()).toEqual(['ok', 'revoked_api_key', 'ok']);
    await store.fault({ kv, ahead: HOUR + 10_000 });
    expect(await codes()).toEqual([
      'service_unavailable',
      'service_unavailable',
      'service_unavailable',
    ]);

    const lines = (await store.logLines()).filter(({ keyId }) => keyId === 'valid');
    expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, true, true]);
  },
);

test('while KV fails, a key that expires is refused, and KV is asked only now and then', async () => {
  const key = await store.issueKey({ expiresAt: new Date(Date.now() + 40_000).toISOString() });
  expect(await code(key)).toBe('ok');
  await store.fault({ kv: 'throws', ahead: 15_000 });
  for (let i = 0; i < 20; i += 1) expect(await code(key)).toBe('ok');
  expect(await store.calls()).toMatchObject({ kvReads: 1 });
  await store.fault({ kv: 'throws', ahead: 40_000 });
  expect(await code(key)).toBe('expired_api_key');
});

test('once KV is back, what it says holds', async () => {
  const key = await store.issueKey({ id: 'back' });
  await list(key);
  await store.fault({ kv: 'throws', ahead: 10_000 });
  await list(key);
  await store.putRecord(key, { id: 'back', revokedAt: new Date().toISOString() });
  await store.fault({ ahead: 20_000 });
  expect(await code(key)).toBe('revoked_api_key');
  const lines = await store.logLines();
  expect(lines.map(({ keyStale }) => keyStale)).toEqual([undefined, true, undefined]);
});

test.each([
  ['GET', '/v1/pets'],
  ['HEAD', '/v1/pets'],
  ['GET', '/v1/pets/1'],
  ['POST', '/v1/pets'],
])('%s %s is a 503 while KV fails, and answered as ever after it', async (method, path) => {
  const body = method === 'POST' ? { body: '{"name":"Rex","categoryId":1}' } : {};
  for (const kv of FAILURES) {
    const authorization = `Bearer ${await store.issueKey()}`;
    const send = () =>
      store.fetch(path, {
        method,
        ...body,
        headers: { authorization, 'content-type': 'application/json' },
      });
    await store.fault({ kv });
    expect((await send()).status).toBe(503);
    await store.fault({});
    expect([200, 201, 404]).toContain((await send()).status);
  }
});
