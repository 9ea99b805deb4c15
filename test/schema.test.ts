/** schema.sql is what operators read; the migrations are what runs. Constraints also hold for other writers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import type { Order } from './orders/steps.ts';
import { startStore } from './store.ts';

const store = startStore();

/** SQL without comments and white space. */
const plain = (sql: string) =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*([(),])\s*/g, '$1')
    .trim();

/** The statements that define the database. */
async function definitions(db: D1Database): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
         AND name <> 'd1_migrations'`,
    )
    .all<{ sql: string }>();
  return results.map(({ sql }) => plain(sql)).sort();
}

test('schema.sql equals the result of the migrations', async () => {
  const schema = plain(await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8'));
  const statements = schema.split(';').map((statement) => statement.trim());
  const { DB } = await store.bindings();
  expect(await definitions(DB)).toEqual(statements.filter(Boolean).sort());
});

const insert = (columns: string, values: string) =>
  store.exec(`INSERT INTO orders (${columns}) VALUES (${values})`);

const OPEN_TWICE = 'UNIQUE constraint failed: orders.pet_id';

test.each([
  ['placed', 'approved'],
  ['approved', 'placed'],
])('after a %s order of an animal, an insert of a %s one fails', async (first, second) => {
  await insert('pet_id, status', `7, '${first}'`);
  await expect(insert('pet_id, status', `7, '${second}'`)).rejects.toThrow(OPEN_TWICE);
  await insert('pet_id, status', `8, '${second}'`);
});

test('a closed order cannot be reopened beside an open one of its animal', async () => {
  for (const status of ['delivered', 'cancelled', 'delivered', 'cancelled', 'placed']) {
    await insert('pet_id, status', `7, '${status}'`);
  }
  const reopening = store.exec("UPDATE orders SET status = 'approved' WHERE status = 'delivered'");
  await expect(reopening).rejects.toThrow(OPEN_TWICE);
});

test('an insert of pet_id alone places an order now', async () => {
  const before = Date.now();
  await insert('pet_id', '7');
  const [order] = (await store.fetch('/v1/store/orders')).body as Order[];
  expect(order).toMatchObject({ petId: 7, status: 'placed' });
  expect(Date.parse(order?.placedAt ?? '')).toBeGreaterThanOrEqual(before);
  expect(Date.parse(order?.placedAt ?? '')).toBeLessThanOrEqual(Date.now());
});

test.each([
  ['an unknown status', 'pet_id, status', "7, 'shipped'", 'CHECK constraint failed'],
  ['no animal', 'status', "'placed'", 'NOT NULL constraint failed'],
  ['a rounded id', 'pet_id', '9223372036854775808', 'cannot store REAL value'],
])('an insert with %s fails', async (_, columns, values, message) => {
  await expect(insert(columns, values)).rejects.toThrow(message);
});
