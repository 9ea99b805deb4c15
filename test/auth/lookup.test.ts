/** When a request reads KV, and what it does when KV fails. */
import { expect, test, vi } from 'vitest';
import { sendInProcess } from '../../bench/calls.ts';
import { stubBindings } from '../../bench/stubs.ts';
import { generateKey } from '../../src/auth/key-format.ts';
import { recordName } from '../../src/auth/key-record.ts';
import { errorOf } from '../contract.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore({ faults: true });

const SECOND = 1_000;
const HOUR = 3_600_000;
const FAILURES = [
  ['throws', 'KV GET failed: 500 Internal Server Error'],
  ['hangs', 'KV did not respond within 2000 ms'],
] as const;
const REVOKED = { revokedAt: '2026-11-20T00:00:00Z' };

function list(key: string): Promise<Reply> {
  return store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
}

const rejected = (code: string) => ({ body: { code } });

test('a key is read from KV once in thirty seconds, at most thirty seconds old', async () => {
  const key = await store.issueKey();
  await list(key);
  expect(await store.calls()).toMatchObject({ kvReads: 1, last: { get: { cacheTtl: 30 } } });
  await store.fault({ ahead: 29 * SECOND });
  await list(key);
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
  await store.fault({ ahead: 31 * SECOND });
  await list(key);
  expect(await store.calls()).toMatchObject({ kvReads: 1 });
  const lines = await store.logLines();
  expect(lines.map((line) => 'keyStale' in line)).toEqual([false, false, false]);
});

test('a thousand newer keys evict a key from memory', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  let reads = 0;
  const bindings = stubBindings(async (binding, value) => {
    reads += binding === 'KV' ? 1 : 0;
    return value;
  });
  const [first = '', ...others] = Array.from({ length: 1_001 }, () => generateKey('production'));
  for (const key of [first, first, ...others]) {
    await sendInProcess({ path: '/v1/pets' }, bindings, key);
  }
  expect(reads).toBe(1_001);
  await sendInProcess({ path: '/v1/pets' }, bindings, first);
  expect(reads).toBe(1_002);
  vi.restoreAllMocks();
});

test('a revoked key is rejected thirty seconds later, and its line names it', async () => {
  const key = await store.issueKey({ id: 'leaked' });
  await list(key);
  await store.putRecord(key, { id: 'leaked', ...REVOKED });
  await store.fault({ ahead: 29 * SECOND });
  expect(await list(key)).toMatchObject({ status: 200 });
  await store.fault({ ahead: 31 * SECOND });
  expect(await list(key)).toMatchObject(rejected('revoked_api_key'));
  const lines = await store.logLines();
  expect(lines.at(-1)).toMatchObject({ keyId: 'leaked', code: 'revoked_api_key' });
});

test('a deleted key is rejected thirty seconds later, also while KV then fails', async () => {
  const key = await store.issueKey();
  await list(key);
  await (await store.bindings()).API_KEYS.delete(await recordName(key));
  await store.fault({ ahead: 31 * SECOND });
  expect(await list(key)).toMatchObject(rejected('invalid_api_key'));
  await store.fault({ ahead: 32 * SECOND, kv: 'throws' });
  expect(await list(key)).toMatchObject(rejected('service_unavailable'));
});

test.each([
  ['malformed', 0, () => 'garbage'],
  ['foreign', 0, () => generateKey('staging')],
  ['unknown', 2, () => generateKey('local')],
])('two requests with a %s key read KV %i times, and never D1', async (_, kvReads, keyOf) => {
  const key = keyOf();
  expect(await list(key)).toMatchObject(rejected('invalid_api_key'));
  expect(await list(key)).toMatchObject(rejected('invalid_api_key'));
  expect(await store.calls()).toMatchObject({ kvReads, keyLimits: 0, d1: 0 });
});

test('a key that expires while it is in memory stops at once, and its line names it', async () => {
  const key = await store.issueKey({
    id: 'old',
    expiresAt: new Date(Date.now() + HOUR).toISOString(),
  });
  await store.fault({ ahead: HOUR - 5 * SECOND });
  expect(await list(key)).toMatchObject({ status: 200 });
  await store.fault({ ahead: HOUR });
  expect(await list(key)).toMatchObject(rejected('expired_api_key'));
  expect(await store.calls()).toMatchObject({ kvReads: 0 });
  const lines = await store.logLines();
  expect(lines.at(-1)).toMatchObject({ keyId: 'old', code: 'expired_api_key' });
});

test.each(FAILURES)(
  'while KV %s, a new key is a 503, with the cause in the log',
  async (kv, cause) => {
    const issued = await store.issueKey();
    await store.fault({ kv });
    for (const key of [issued, generateKey('local')]) {
      const { headers, body } = await list(key);
      expect(errorOf(body)).toBe('503 service_unavailable: API keys cannot be verified right now.');
      expect([headers.get('retry-after'), headers.has('www-authenticate')]).toEqual(['5', false]);
    }
    expect(await store.calls()).toMatchObject({ d1: 0 });
    const lines = await store.logLines();
    expect(lines).toMatchObject([{ status: 503, cause }, { cause }]);
    expect(lines[0]).not.toHaveProperty('stack');
  },
);

test.each(FAILURES)('while KV %s, a known key keeps its last state for an hour', async (kv) => {
  const active = await store.issueKey({ id: 'active' });
  const revoked = await store.issueKey({ id: 'revoked', ...REVOKED });
  await list(active);
  await list(revoked);
  for (const ahead of [31 * SECOND, HOUR - SECOND]) {
    await store.fault({ kv, ahead });
    expect(await list(active)).toMatchObject({ status: 200 });
    expect(await list(revoked)).toMatchObject(rejected('revoked_api_key'));
  }
  await store.fault({ kv, ahead: HOUR + 5 * SECOND });
  expect(await list(active)).toMatchObject(rejected('service_unavailable'));
  expect(await list(revoked)).toMatchObject(rejected('service_unavailable'));
});

test('while KV fails, it is read every thirty seconds, and each line shows it', async () => {
  const key = await store.issueKey();
  await list(key);
  await store.fault({ kv: 'throws', ahead: 31 * SECOND });
  expect([(await list(key)).status, (await list(key)).status]).toEqual([200, 200]);
  expect(await store.calls()).toMatchObject({ kvReads: 1 });
  await store.fault({ kv: 'throws', ahead: 62 * SECOND });
  expect([(await list(key)).status, (await list(key)).status]).toEqual([200, 200]);
  expect(await store.calls()).toMatchObject({ kvReads: 1 });
  await store.fault({ ahead: 95 * SECOND });
  await list(key);
  const stale = (await store.logLines()).map(({ keyStale }) => keyStale);
  expect(stale).toEqual([undefined, true, true, true, true, undefined]);
});

test('a record that became invalid is a 500, and is not used while KV then fails', async () => {
  const key = await store.issueKey();
  await list(key);
  await (await store.bindings()).API_KEYS.put(await recordName(key), '{"id":"x","label":"y"}');
  await store.fault({ ahead: 31 * SECOND });
  expect(await list(key)).toMatchObject({ status: 500 });
  await store.fault({ kv: 'throws', ahead: 32 * SECOND });
  expect(await list(key)).toMatchObject({ status: 503 });
});

test('a read of KV that returns late does not restore a revoked key', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.useFakeTimers({ toFake: ['Date'] });
  const record = { id: 'leaked', label: 'test', createdAt: '2026-11-20T00:00:00Z' };
  const slow = Promise.withResolvers<string>();
  const reads = [slow.promise, Promise.resolve(JSON.stringify({ ...record, ...REVOKED }))];
  const key = generateKey('production');
  const listInProcess = async () => {
    const call = { path: '/v1/pets' };
    const bindings = { ...stubBindings(), API_KEYS: { get: () => reads.shift() } };
    return (await sendInProcess(call, bindings, key)).status;
  };

  const first = listInProcess();
  vi.advanceTimersByTime(SECOND);
  expect(await listInProcess()).toBe(401);
  slow.resolve(JSON.stringify(record));
  expect(await first).toBe(401);
  expect(await listInProcess()).toBe(401);
  vi.useRealTimers();
  vi.restoreAllMocks();
});
