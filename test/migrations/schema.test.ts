/** schema.sql is what operators read; the migrations are what runs. Constraints also hold for other writers. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { startStore } from '../support/store.ts';

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

const insert = (petId: number, status: string) =>
  store.exec(`INSERT INTO orders (pet_id, status) VALUES (${petId}, '${status}')`);

test('an animal has at most one open order, and any number of closed ones', async () => {
  for (const status of ['delivered', 'cancelled', 'delivered', 'cancelled', 'placed']) {
    await insert(7, status);
  }
  const twice = 'UNIQUE constraint failed: orders.pet_id';
  await expect(insert(7, 'approved')).rejects.toThrow(twice);
  const reopening = store.exec("UPDATE orders SET status = 'approved' WHERE status = 'delivered'");
  await expect(reopening).rejects.toThrow(twice);
  await insert(8, 'approved');
});

test('an insert of pet_id alone places an order now', async () => {
  const before = new Date().toISOString();
  await store.exec('INSERT INTO orders (pet_id) VALUES (7)');
  const [{ placedAt, ...order }] = (await store.fetch('/v1/store/orders')).body as [
    Record<string, string>,
  ];
  expect(order).toEqual({ id: 1, petId: 7, status: 'placed' });
  expect([placedAt, before, new Date().toISOString()].sort()[1]).toBe(placedAt);
});

test.each([
  ["INSERT INTO orders (pet_id, status) VALUES (7, 'shipped')", 'CHECK constraint failed'],
  ["INSERT INTO orders (status) VALUES ('placed')", 'NOT NULL constraint failed'],
  ['INSERT INTO orders (pet_id) VALUES (9223372036854775808)', 'cannot store REAL value'],
])('%s fails', (sql, message) => expect(store.exec(sql)).rejects.toThrow(message));
