/** The scheduled handler, which removes expired records of idempotency keys. */
import { expect, test, vi } from 'vitest';
import { sweep } from '../../src/d1/sweep.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const CONTROLLER = { scheduledTime: 0, cron: '', noRetry() {} };

/** Adds records of this age. */
function addRecords(count: number, ageMs: number): Promise<void> {
  return store.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO idempotency_keys (key_hash, body_hash, response, created_at)
       SELECT hex(randomblob(8)), 'hash', '{}', ${Date.now() - ageMs} FROM n`,
  );
}

async function countRecords(): Promise<number | null> {
  const { DB } = await store.bindings();
  return DB.prepare('SELECT count(*) AS n FROM idempotency_keys').first<number>('n');
}

test('the sweep removes the records that are older than a day, and logs their number', async () => {
  await addRecords(20, 24 * HOUR + MINUTE);
  await addRecords(3, 24 * HOUR - MINUTE);
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(3);
  expect(await store.logLines()).toMatchObject([
    { environment: 'local', task: 'sweep idempotency keys', removed: 20, finished: true },
  ]);
});

test('the sweep removes the oldest records first, a thousand at a time', async () => {
  await addRecords(2_500, 25 * HOUR);
  await addRecords(1_000, 0);
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(1_000);
  expect((await store.calls()).d1).toBe(3);
});

test('the sweep stops after four minutes, and the next run continues', async () => {
  await addRecords(5_000, 25 * HOUR);
  await store.fault({ d1: ['works', { ahead: 4 * MINUTE }] });
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(3_000);
  expect((await store.logLines())[0]).toMatchObject({ removed: 2_000, finished: false });
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(0);
});

test.each([
  ['throws', 'D1_ERROR: Network connection lost.'],
  ['hangs', 'D1 did not respond within 10000 ms'],
] as const)('the sweep fails and logs the cause when D1 %s', async (fault, cause) => {
  await addRecords(1_500, 25 * HOUR);
  await store.fault({ d1: ['works', fault] });
  expect(await store.scheduled()).toBe(false);
  expect((await store.logLines())[0]).toMatchObject({ removed: 1_000, finished: false, cause });
  expect(await countRecords()).toBe(500);
});

test('the sweep makes at most 900 calls, fewer than D1 allows, and logs its duration', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') });
  const run = vi.fn(async () => {
    vi.advanceTimersByTime(100);
    return { meta: { changes: 1_000 } };
  });
  const statement = { bind: (): unknown => statement, run };
  const env = { ENVIRONMENT: 'production', DB: { prepare: () => statement } };
  await sweep(CONTROLLER, env as unknown as Env);
  const [line = ''] = log.mock.calls[0] ?? [];
  vi.useRealTimers();
  log.mockRestore();
  expect(run).toHaveBeenCalledTimes(900);
  expect(JSON.parse(line)).toEqual({
    time: '2026-11-20T12:00:00.000Z',
    environment: 'production',
    task: 'sweep idempotency keys',
    removed: 900_000,
    finished: false,
    durationMs: 90_000,
  });
});
