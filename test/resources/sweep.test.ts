/** The scheduled handler, which removes expired records of idempotency keys. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

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

test('removes the records that are older than a day, and logs their number', async () => {
  await addRecords(20, 24 * HOUR + MINUTE);
  await addRecords(3, 24 * HOUR - MINUTE);
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(3);
  expect(await store.logLines()).toMatchObject([
    { environment: 'local', task: 'sweep idempotency keys', removed: 20, finished: true },
  ]);
});

test('removes many records from the oldest on, a thousand at a time', async () => {
  await addRecords(2_500, 25 * HOUR);
  await addRecords(1_000, 0);
  expect(await store.scheduled()).toBe(true);
  expect(await countRecords()).toBe(1_000);
  expect((await store.calls()).d1).toBe(3);
});

test('stops at its time limit, and the next run continues', async () => {
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
] as const)('fails and logs the cause when D1 %s', async (fault, cause) => {
  await addRecords(1_500, 25 * HOUR);
  await store.fault({ d1: ['works', fault] });
  expect(await store.scheduled()).toBe(false);
  expect((await store.logLines())[0]).toMatchObject({ removed: 1_000, finished: false, cause });
  expect(await countRecords()).toBe(500);
});
