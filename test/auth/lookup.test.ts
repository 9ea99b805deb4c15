/** When a request reads KV, and what it does when KV fails. */
import { expect, test, vi } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { findRecord } from '../../src/auth/key-lookup.ts';
import { recordName } from '../../src/auth/key-record.ts';
import { stopTime } from '../support/in-process.ts';
import { startFaultyStore } from '../support/store.ts';
import { RECORD, sendInProcess, stubBindings } from '../support/stubs.ts';

const store = startFaultyStore();

const REVOKED = { revokedAt: '2026-11-20T00:00:00Z' };
const NOON = Date.parse('2026-11-20T12:00:00Z');

/** Stops the time of day so many seconds after noon. */
const setTime = (seconds: number, kv: 'works' | 'throws' | 'hangs' = 'works') =>
  store.fault({ now: NOON + seconds * 1_000, kv });

/** Lists the animals with a key, and returns the code of the error, or the status. */
async function list(key: string): Promise<unknown> {
  const { status, body } = await store.fetch('/v1/pets', { key });
  return Object(body).code ?? status;
}

test('a newer key evicts the one of five thousand that was used least recently', async () => {
  stopTime();
  const get = vi.fn(async () => JSON.stringify(RECORD));
  const context = { env: { API_KEYS: { get } }, get: () => ({}), set() {} } as never;
  const find = (key: string) => findRecord(context, key);
  const keys = Array.from({ length: 5_000 }, (_, i) => `key ${i}`);
  const [busiest = '', first = '', second = ''] = keys;
  for (const key of [...keys, busiest, 'newest']) await find(key);
  expect(get).toHaveBeenCalledTimes(5_001);
  const cause = new Error('KV is down');
  get.mockRejectedValue(cause);
  // Only a key in memory works without KV.
  for (const key of [busiest, second]) expect(await find(key)).toEqual(RECORD);
  await expect(find(first)).rejects.toHaveProperty('cause', cause);
});

test.each([
  ['deleted', (kv: KVNamespace, name: string) => kv.delete(name), 'invalid_api_key'],
  ['invalid', (kv: KVNamespace, name: string) => kv.put(name, '{}'), 'internal_error'],
])('a record that is now %s is not used, also while KV then fails', async (_, change, code) => {
  const key = await store.issueKey();
  await setTime(0);
  await list(key);
  await change(store.bindings().API_KEYS, await recordName(key));
  await setTime(31);
  expect(await list(key)).toBe(code);
  await setTime(32, 'throws');
  expect(await list(key)).toBe('service_unavailable');
});

test.each([
  ['malformed', 0, () => 'garbage', 'invalid_api_key'],
  ['foreign', 0, () => generateKey('staging'), 'invalid_api_key'],
  ['guessed', 2, () => generateKey('local'), 'invalid_api_key'],
  ['revoked', 1, () => store.issueKey(REVOKED), 'revoked_api_key'],
])(
  'two requests with a %s key read KV %i times, and nothing else',
  async (_, kvReads, makeKey, code) => {
    const key = await makeKey();
    expect([await list(key), await list(key)]).toEqual([code, code]);
    expect(await store.calls()).toMatchObject({ kvReads, keyLimits: 0, d1: 0 });
  },
);

test.each(['throws', 'hangs'] as const)(
  'while KV %s, known keys work for an hour, and each is read every thirty seconds',
  async (kv) => {
    const [active, revoked] = [await store.issueKey(), await store.issueKey(REVOKED)];
    const listWithBoth = async () => [await list(active), await list(revoked)];
    await setTime(0);
    await listWithBoth();
    for (const [seconds, state] of [
      [30, kv],
      [60, kv],
      // It recovers.
      [90, undefined],
      [3_689.999, kv],
    ] as const) {
      await setTime(seconds, state);
      expect(await listWithBoth()).toEqual([200, 'revoked_api_key']);
      expect(await listWithBoth()).toEqual([200, 'revoked_api_key']);
      expect((await store.calls()).kvReads).toBe(2);
      expect((await store.logLines()).at(-1)?.keyStale).toBe(state && true);
    }
    await setTime(3_690, kv);
    expect(await listWithBoth()).toEqual(['service_unavailable', 'service_unavailable']);
    await setTime(3_690);
    expect(await listWithBoth()).toEqual([200, 'revoked_api_key']);
  },
);

/**
 * Sends requests with a new key, in this process, where a test decides when a read of KV returns.
 * The first read of KV waits for `slow`, and later ones return `later`.
 */
async function startSlowRead(later: object) {
  stopTime();
  const slow = Promise.withResolvers<string | null>();
  const read = vi.fn<() => Promise<string | null>>(async () => JSON.stringify(later));
  read.mockReturnValueOnce(slow.promise);
  const bindings = { ...stubBindings(), API_KEYS: { get: read } };
  const key = generateKey('production');
  const send = async () => (await sendInProcess({ path: '/v1/pets' }, bindings, { key })).status;
  const first = send();
  // Not `vi.waitFor`, which advances the time of day.
  while (read.mock.calls.length === 0) await new Promise(setImmediate);
  return { read, send, first, slow };
}

test('a revoked key is rejected thirty seconds after the last read of KV began', async () => {
  const { read, send, first, slow } = await startSlowRead({ ...RECORD, ...REVOKED });
  vi.advanceTimersByTime(20_000);
  slow.resolve(JSON.stringify(RECORD));
  expect(await first).toBe(200);
  vi.advanceTimersByTime(9_999);
  expect(await send()).toBe(200);
  vi.advanceTimersByTime(1);
  expect(await send()).toBe(401);
  expect(read).toHaveBeenLastCalledWith(expect.any(String), { cacheTtl: 30 });
});

test.each([
  ['restore a revoked key', REVOKED, JSON.stringify(RECORD), 401],
  ['forget a new one', {}, null, 200],
])('a read of KV that returns late does not %s', async (_, later, stored, status) => {
  const { send, first, slow } = await startSlowRead({ ...RECORD, ...later });
  vi.advanceTimersByTime(1_000);
  expect(await send()).toBe(status);
  slow.resolve(stored);
  expect([await first, await send()]).toEqual([status, status]);
});

test('a read of KV that fails late uses a record that was read since', async () => {
  const { read, send, first, slow } = await startSlowRead(RECORD);
  vi.advanceTimersByTime(1_000);
  expect(await send()).toBe(200);
  vi.advanceTimersByTime(1_000);
  slow.reject(new Error('KV is down'));
  expect(await first).toBe(200);
  // The record is thirty seconds old, so it is read again: the failed read has not postponed that.
  vi.advanceTimersByTime(29_000);
  expect(await send()).toBe(200);
  expect(read).toHaveBeenCalledTimes(3);
});
