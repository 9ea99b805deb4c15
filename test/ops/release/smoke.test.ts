/** The smoke test, against a store in the real runtime. */
import { beforeEach, expect, test } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import type { Store } from '../../../ops/release/client.ts';
import { smokeTest } from '../../../ops/release/smoke.ts';
import { startStore } from '../../store.ts';

const store = startStore();
let subject: Store;

beforeEach(async () => {
  const { DB } = await store.bindings();
  subject = {
    environment: 'local',
    baseUrl: `${store.url()}/v1`,
    apiKey: await store.issueKey(),
    execute: (sql) => DB.batch(splitSqlQuery(sql).map((each) => DB.prepare(each))),
  };
});

/** Counts the rows of all tables that the smoke test writes to. */
async function rows(): Promise<unknown> {
  const { DB } = await store.bindings();
  const count = (table: string) => `(SELECT count(*) FROM ${table}) AS ${table}`;
  const tables = ['pets', 'orders', 'idempotency_keys'].map(count);
  return DB.prepare(`SELECT ${tables.join(', ')}`).first();
}

test('passes, and removes what it added and nothing else', async () => {
  await store.create({ name: 'Rex', categoryId: 1, status: 'available' });
  const before = await rows();
  await smokeTest(subject);
  expect(await rows()).toEqual(before);
});

test('says that its key can only read', async () => {
  const apiKey = await store.issueKey({ scopes: ['read'] });
  await expect(smokeTest({ ...subject, apiKey })).rejects.toThrow(
    'the key in SMOKE_API_KEY can only read, and needs write',
  );
});

test('removes what it added when it fails', async () => {
  const { DB } = await store.bindings();
  await DB.exec(
    "CREATE TRIGGER no_delivery BEFORE UPDATE ON orders WHEN NEW.status = 'delivered' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  await expect(smokeTest(subject)).rejects.toThrow(
    /^smoke test, PATCH .*\/orders\/\d+: status is 50/,
  );
  expect(await rows()).toEqual({ pets: 0, orders: 0, idempotency_keys: 0 });
  await DB.exec('DROP TRIGGER no_delivery');
});

test('fails when another version or environment answers', async () => {
  await expect(smokeTest({ ...subject, version: 'other' })).rejects.toThrow('version is');
  await expect(smokeTest({ ...subject, environment: 'staging' })).rejects.toThrow(
    'environment is "local", not "staging"',
  );
});
