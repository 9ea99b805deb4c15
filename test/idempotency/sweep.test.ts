/** The scheduled handler, which removes expired records of idempotency keys. */
import { expect, test, vi } from 'vitest';
import { sweepIdempotencyKeys } from '../../src/idempotency/sweep.ts';
import { stopTime } from '../support/in-process.ts';
import { startFaultyStore } from '../support/store.ts';

const store = startFaultyStore();
const records = () => store.rows('idempotency_keys');

const HOUR = 3_600_000;
const NOON = Date.parse('2026-11-20T12:00:00Z');

/** Adds records of this time, in milliseconds since 1970. */
function addRecords(count: number, createdAt: number) {
  return store.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO idempotency_keys (key_hash, request_hash, item_id, item, created_at)
       SELECT randomblob(32), x'', 1, '{}', ${createdAt} FROM n`,
  );
}

test('the sweep removes a record an hour after its day, a thousand at a time', async () => {
  await addRecords(1, NOON);
  await addRecords(1_500, NOON - 25 * HOUR);
  await addRecords(1_000, NOON - 25 * HOUR + 1);
  await store.fault({ now: NOON });
  expect(await store.scheduled()).toBe(true);
  expect(await records()).toHaveLength(1_001);
  expect((await store.calls()).d1).toBe(3);
  expect(await store.logLines()).toMatchObject([
    { environment: 'local', task: 'sweep idempotency keys', removed: 1_500, finished: true },
  ]);
});

test('the sweep fails and logs the cause when D1 does not respond', async () => {
  await addRecords(1_500, Date.now() - 26 * HOUR);
  await store.fault({ d1: ['works', 'hangs'] });
  expect(await store.scheduled()).toBe(false);
  const cause = 'D1 did not respond within 10000 ms';
  expect(await store.logLines()).toMatchObject([{ removed: 1_000, finished: false, cause }]);
  expect(await records()).toHaveLength(500);
});

/** Runs the sweep in this process at a time, and returns its log line. */
async function sweepAt(now: number, env: object) {
  const logLines = stopTime(now);
  const controller = { scheduledTime: 0, cron: '', noRetry() {} };
  await sweepIdempotencyKeys(controller, env as never).catch(() => {});
  return logLines().at(-1);
}

test('an attempt that arrives after the key has expired creates nothing', async () => {
  const create = () =>
    store.createPet({ name: 'Rex', categoryId: 1 }, { headers: { 'idempotency-key': 'k' } });
  await store.fault({ now: NOON });
  expect((await create()).status).toBe(201);
  await store.fault({ now: NOON + 24 * HOUR - 1, d1: ['runs later'] });
  expect((await create()).headers.get('idempotency-replayed')).toBe('true');
  await sweepAt(NOON + 25 * HOUR - 1, store.bindings());
  for (let calls = 0; calls < 6; calls += 1) await store.fetch('/v1/pets');
  expect(await store.rows('pets')).toMatchObject([{ id: 1 }]);
});

test('the line of a sweep that fails is an error', async () => {
  const DB = {
    prepare: () => {
      throw 'no D1';
    },
  };
  expect(await sweepAt(NOON, { DB })).toMatchObject({ finished: false, cause: 'no D1' });
  expect(console.error).toHaveBeenCalledOnce();
});

test('the sweep stops after 900 calls, fewer than D1 allows', async () => {
  const run = vi.fn(async () => {
    vi.advanceTimersByTime(100);
    return { meta: { changes: 1_000 } };
  });
  const statement = { bind: (): unknown => statement, run };
  const env = { ENVIRONMENT: 'production', DB: { prepare: () => statement } };
  expect(await sweepAt(NOON, env)).toEqual({
    time: '2026-11-20T12:00:00.000Z',
    environment: 'production',
    task: 'sweep idempotency keys',
    removed: 900_000,
    finished: false,
    durationMs: 90_000,
  });
  expect(run).toHaveBeenCalledTimes(900);
  expect(console.error).not.toHaveBeenCalled();
});
