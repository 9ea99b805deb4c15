/** The scheduled handler, which removes expired records of idempotency keys and of attempts. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const TABLES = {
  idempotency_keys: `idempotency_keys
    (key_hash, body_hash, request_id, response, created_at)
    SELECT hex(randomblob(8)), 'hash', 'request', '{}'`,
  write_attempts: 'write_attempts (request_id, attempt, created_at) SELECT hex(randomblob(8)), 1',
};
type Table = keyof typeof TABLES;

/** Adds records of this age. */
function addRecords(table: Table, count: number, ageMs: number): Promise<void> {
  return store.exec(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     INSERT INTO ${TABLES[table]}, ${Date.now() - ageMs} FROM n`,
  );
}

async function countOf(table: Table): Promise<number | null> {
  const { DB } = await store.bindings();
  return DB.prepare(`SELECT count(*) AS n FROM ${table}`).first<number>('n');
}

test('removes idempotency keys after a day and attempts after an hour, and logs the number', async () => {
  await addRecords('idempotency_keys', 20, 24 * HOUR + MINUTE);
  await addRecords('idempotency_keys', 3, 24 * HOUR - MINUTE);
  await addRecords('write_attempts', 10, HOUR + MINUTE);
  await addRecords('write_attempts', 4, HOUR - MINUTE);
  expect(await store.scheduled()).toBe(true);
  expect([await countOf('idempotency_keys'), await countOf('write_attempts')]).toEqual([3, 4]);
  expect(await store.logLines()).toMatchObject([
    { environment: 'local', task: 'sweep idempotency keys', removed: 30, finished: true },
  ]);
});

test.each<Table>(['idempotency_keys', 'write_attempts'])(
  'removes many records of %s from the oldest on, a thousand at a time',
  async (table) => {
    await addRecords(table, 2_500, 25 * HOUR);
    await addRecords(table, 1_000, 0);
    expect(await store.scheduled()).toBe(true);
    expect(await countOf(table)).toBe(1_000);
    // One more for the other table.
    expect((await store.calls()).d1).toBe(3 + 1);
  },
);

test('stops at its time limit: the next run continues', async () => {
  await addRecords('idempotency_keys', 5_000, 25 * HOUR);
  await store.fault({ d1: ['works', { ahead: 4 * MINUTE }] });
  expect(await store.scheduled()).toBe(true);
  expect(await countOf('idempotency_keys')).toBe(3_000);
  expect((await store.logLines())[0]).toMatchObject({ removed: 2_000, finished: false });
  expect(await store.scheduled()).toBe(true);
  expect(await countOf('idempotency_keys')).toBe(0);
});

test.each([
  ['throws', 'D1_ERROR: Network connection lost.'],
  ['hangs', 'D1 did not respond within 10000 ms'],
] as const)('fails and logs the cause when D1 %s', async (fault, cause) => {
  await addRecords('idempotency_keys', 1_500, 25 * HOUR);
  await store.fault({ d1: ['works', fault] });
  expect(await store.scheduled()).toBe(false);
  expect((await store.logLines())[0]).toMatchObject({ removed: 1_000, finished: false, cause });
});
