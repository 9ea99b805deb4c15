/** schema.sql is what operators read; the migrations are what runs. Constraints also hold for other writers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import type { Order } from './orders/steps.ts';
import { startStore } from './store.ts';

const store = startStore();

/** The statements, without comments and white space. */
const statementsOf = (sql: string) =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*([(),;])\s*/g, '$1')
    .trim()
    .split(';')
    .filter(Boolean)
    .sort();

test('schema.sql equals the result of the migrations', async () => {
  const { DB } = await store.bindings();
  const { results } = await DB.prepare(
    `SELECT sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
       AND name <> 'd1_migrations'`,
  ).all<{ sql: string }>();
  const schema = await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8');
  const migrated = results.map(({ sql }) => sql).join(';');
  expect(statementsOf(migrated)).toEqual(statementsOf(schema));
});

const insert = (columns: string, values: string) =>
  store.exec(`INSERT INTO orders (${columns}) VALUES (${values})`);

test('an animal has at most one open order, and any number of closed ones', async () => {
  for (const status of ['delivered', 'cancelled', 'delivered', 'cancelled', 'placed']) {
    await insert('pet_id, status', `7, '${status}'`);
  }
  const twice = 'UNIQUE constraint failed: orders.pet_id';
  await expect(insert('pet_id, status', "7, 'approved'")).rejects.toThrow(twice);
  const reopening = store.exec("UPDATE orders SET status = 'approved' WHERE status = 'delivered'");
  await expect(reopening).rejects.toThrow(twice);
  await insert('pet_id, status', "8, 'approved'");
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
