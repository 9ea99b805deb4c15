/** The scheduled handler, which removes expired records of idempotency keys. */
import { expect, test, vi } from 'vitest';
import { sweepIdempotencyKeys } from '../../src/idempotency/sweep.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const HOUR = 3_600_000;
const MINUTE = 60_000;

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

test('the sweep removes the records older than a day, a thousand at a time', async () => {
  await addRecords(2_500, 24 * HOUR + MINUTE);
  await addRecords(1_000, 24 * HOUR - MINUTE);
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(1_000);
  expect((await store.calls()).d1).toBe(3);
  expect(await store.logLines()).toMatchObject([
    { environment: 'local', task: 'sweep idempotency keys', removed: 2_500, finished: true },
  ]);
});

test.each([
  { fault: 'throws', cause: 'D1_ERROR: Network connection lost.' },
  { fault: 'hangs', cause: 'D1 did not respond within 10000 ms' },
] as const)('the sweep fails and logs the cause when D1 $fault', async ({ fault, cause }) => {
  await addRecords(1_500, 25 * HOUR);
  await store.fault({ d1: ['works', fault] });
  expect(await store.scheduled()).toBe(false);
  expect(await store.logLines()).toMatchObject([{ removed: 1_000, finished: false, cause }]);
  expect(await countRecords()).toBe(500);
});

test('the sweep stops after 900 calls, fewer than D1 allows', async () => {
  const log = vi.spyOn(console, 'log').mockReturnValue();
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z') });
  const run = vi.fn(async () => {
    vi.advanceTimersByTime(100);
    return { meta: { changes: 1_000 } };
  });
  const statement = { bind: (): unknown => statement, run };
  const env = { ENVIRONMENT: 'production', DB: { prepare: () => statement } };
  const controller = { scheduledTime: 0, cron: '', noRetry() {} };
  await sweepIdempotencyKeys(controller, env as unknown as Env);
  const line = log.mock.lastCall?.[0];
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
