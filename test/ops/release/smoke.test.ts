/** The smoke test, against a store in the real runtime. */
import { beforeEach, expect, test } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import {
  removeTestRows,
  type Store,
  smokeTest,
  testMigrations,
} from '../../../ops/release/smoke.ts';
import { startStore } from '../../store.ts';

const store = startStore();
let subject: Store;
let DB: D1Database;

beforeEach(async () => {
  ({ DB } = await store.bindings());
  await DB.batch(['pets', 'orders'].map((table) => DB.prepare(`DELETE FROM ${table}`)));
  const apiKey = await store.issueKey();
  subject = { environment: 'local', baseUrl: `${store.url()}/v1`, apiKey };
});

const removeRows = () =>
  removeTestRows((sql) => DB.batch(splitSqlQuery(sql).map((each) => DB.prepare(each))));

/** Counts the animals and orders. */
function rows(): Promise<unknown> {
  const count = (table: string) => `(SELECT count(*) FROM ${table}) AS ${table}`;
  return DB.prepare(`SELECT ${count('pets')}, ${count('orders')}`).first();
}

test('passes, and removes what it added and nothing else', async () => {
  await store.create({ name: 'Rex', categoryId: 1, status: 'available' });
  await smokeTest(subject);
  await removeRows();
  expect(await rows()).toEqual({ pets: 1, orders: 0 });
});

test('removes what it added when it fails, and what a killed one left, but not what another uses', async () => {
  for (const key of ['smoke-test-old/pets/1', 'smoke-test-recent/pets/1']) {
    await store.create({ name: 'Left', categoryId: 1 }, { headers: { 'Idempotency-Key': key } });
  }
  const update = 'UPDATE idempotency_keys SET created_at = created_at - 600001';
  await DB.exec(`${update} WHERE idempotency_key LIKE 'smoke-test-old%'`);
  await DB.exec(
    "CREATE TRIGGER no_delivery BEFORE UPDATE ON orders WHEN NEW.status = 'delivered' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  const problem = /^smoke test failed: PATCH .*\/orders\/\d+: status is 50/;
  await expect(smokeTest(subject)).rejects.toThrow(problem);
  await DB.exec('DROP TRIGGER no_delivery');
  expect(await rows()).toEqual({ pets: 4, orders: 1 });
  await removeRows();
  expect(await rows()).toEqual({ pets: 1, orders: 0 });
});

test('fails when another version or environment answers', async () => {
  await expect(smokeTest({ ...subject, version: 'other' })).rejects.toThrow('"version":"other"');
  const problem = /"environment":"local".*, not .*"environment":"staging"/;
  await expect(smokeTest({ ...subject, environment: 'staging' })).rejects.toThrow(problem);
});

test('accepts a migration that adds', async () => {
  await testMigrations(subject, () => DB.exec('ALTER TABLE pets ADD COLUMN note TEXT'));
  await DB.exec('ALTER TABLE pets DROP COLUMN note');
});

test.each([
  ['animals from before', 'UPDATE pets SET name = upper(name)', 'have changed'],
  ['orders from before', "UPDATE orders SET status = 'approved'", 'have changed'],
  [
    'how open orders end',
    `CREATE TRIGGER refuse BEFORE UPDATE ON orders
     WHEN (SELECT name FROM pets WHERE id = NEW.pet_id) = 'Rex' BEGIN SELECT RAISE(ABORT, 'no'); END`,
    'Internal server error',
  ],
])('rejects a migration that changes %s', async (_, sql, problem) => {
  const tested = testMigrations(subject, () => DB.exec(sql.replaceAll('\n', ' ')));
  await expect(tested).rejects.toThrow(problem);
  await DB.exec('DROP TRIGGER IF EXISTS refuse');
});
