/** The scheduled handler, which removes expired records of idempotency keys. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const DAY = 86_400_000;

async function seed(count: number, ageMs: number): Promise<void> {
  const { DB } = await store.bindings();
  await DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
     INSERT INTO idempotency_keys SELECT 'seed', ?2 || '-' || i, ?3, 'hash', '{}', 'request' FROM n`,
  )
    .bind(count, String(ageMs), Date.now() - ageMs)
    .run();
}

async function records(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT count(*) AS n FROM idempotency_keys').first<number>('n')) ?? -1;
}

test('removes records older than a day, in steps, and logs the number', async () => {
  await seed(2500, DAY + 60_000);
  await seed(10, DAY - 60_000);
  expect(await store.scheduled()).toBe(true);
  expect(await records()).toBe(10);
  expect((await store.calls()).d1).toBe(3);
  expect(await store.logLines()).toEqual([
    expect.objectContaining({
      environment: 'local',
      task: 'sweep idempotency keys',
      removed: 2500,
      finished: true,
      durationMs: expect.any(Number),
    }),
  ]);
});

test('continues until none is left', async () => {
  await seed(6_000, DAY + 60_000);
  expect(await store.scheduled()).toBe(true);
  expect(await records()).toBe(0);
  expect((await store.logLines())[0]).toMatchObject({ removed: 6_000, finished: true });
});

test('stops at its time limit: the next run continues', async () => {
  await seed(5_000, DAY + 600_000);
  await store.fault({ d1: ['works', { ahead: 240_000 }] });
  expect(await store.scheduled()).toBe(true);
  expect(await records()).toBe(3_000);
  expect((await store.logLines())[0]).toMatchObject({ removed: 2_000, finished: false });
  expect(await store.scheduled()).toBe(true);
  expect(await records()).toBe(0);
});

test.each([
  ['throws', 'D1_ERROR: Network connection lost.'],
  ['hangs', 'D1 did not respond within 10000 ms'],
] as const)('fails and logs the cause when D1 %s', async (fault, cause) => {
  await seed(1500, DAY + 60_000);
  await store.fault({ d1: ['works', fault] });
  expect(await store.scheduled()).toBe(false);
  expect((await store.logLines())[0]).toMatchObject({ removed: 1000, cause });
});
