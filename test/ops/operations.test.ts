/** The operations page agrees with the database and with the queries of the alerts. */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { startStore } from '../store.ts';

const page = readFileSync('docs/operations.md', 'utf8');
const store = startStore();

test('the page can be read in an emergency', () => {
  expect(page.trimEnd().split('\n').length).toBeLessThanOrEqual(230);
  expect(page.split(/\s+/).length).toBeLessThanOrEqual(3300);
});

/** The statements that a command of the page, `STATEMENTS "…" > file`, writes. */
async function statements(from: string): Promise<string[]> {
  const queries = Array.from(page.matchAll(/STATEMENTS "(SELECT [^"]+)"/g), ([, sql = '']) => sql);
  const found = queries.filter((sql) => sql.includes(` FROM ${from}`));
  expect(found, from).toHaveLength(1);
  const { DB } = await store.bindings();
  const { results } = await DB.prepare(found[0] ?? '').all<{ sql: string }>();
  return results.flatMap(({ sql }) => splitSqlQuery(sql));
}

async function execute(list: string[]): Promise<void> {
  const { DB } = await store.bindings();
  await DB.batch(list.map((sql) => DB.prepare(sql)));
}

async function rowsOf(table: string): Promise<unknown[]> {
  const { DB } = await store.bindings();
  return (await DB.prepare(`SELECT * FROM ${table} ORDER BY 1`).all()).results;
}

const REX = { name: "Rex's; -- 🐈", categoryId: 1, status: 'available' };

/** Two animals, the first with an order. */
async function createRows(): Promise<void> {
  for (const status of ['available', 'sold']) await store.create({ ...REX, status });
  await store.exec('INSERT INTO orders (pet_id) VALUES (1)');
}

test('the largest ids are raised for every table after a restore, also for an empty one', async () => {
  await createRows();
  const before = await rowsOf('sqlite_sequence');
  expect(before).toContainEqual({ name: 'pets', seq: 2 });
  const raise = await statements('sqlite_sequence');
  // A restore to a time when there was one animal, and no order.
  await execute([
    'DELETE FROM pets WHERE id = 2',
    'DELETE FROM orders',
    "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'pets'",
    "DELETE FROM sqlite_sequence WHERE name = 'orders'",
  ]);
  await execute(raise);
  expect(await rowsOf('sqlite_sequence')).toEqual(before);
});

test('the largest ids are never lowered', async () => {
  await createRows();
  const raise = await statements('sqlite_sequence');
  await store.create(REX);
  const before = await rowsOf('sqlite_sequence');
  await execute(raise);
  expect(await rowsOf('sqlite_sequence')).toEqual(before);
});

test('some rows are restored exactly', async () => {
  const { DB } = await store.bindings();
  await createRows();
  await DB.prepare(
    'UPDATE pets SET category_id = 9007199254740993, status = NULL WHERE id = 2',
  ).run();
  const tables = ['pets', 'orders'];
  const before = await Promise.all(tables.map(rowsOf));
  const lists = await Promise.all(tables.map(statements));
  await execute([
    'DELETE FROM pets WHERE id = 2',
    "UPDATE orders SET status = 'cancelled'",
    "UPDATE pets SET name = 'x'",
  ]);
  for (const list of lists) await execute(list);
  expect(await Promise.all(tables.map(rowsOf))).toEqual(before);
});

test('a restored order does not delete a newer open one', async () => {
  await createRows();
  const list = await statements('orders');
  await execute([
    "UPDATE orders SET status = 'cancelled'",
    'INSERT INTO orders (pet_id) VALUES (1)',
  ]);
  const before = await rowsOf('orders');
  await expect(execute(list)).rejects.toThrow('UNIQUE constraint failed: orders.pet_id');
  expect(await rowsOf('orders')).toEqual(before);
});

test.each(globSync('docs/alerts/*.json'))('%s leaves out no group, and is in the table', (path) => {
  expect(JSON.parse(readFileSync(path, 'utf8')).limit).toBe(2000);
  expect(readFileSync('docs/alerts/README.md', 'utf8')).toContain(`(${basename(path)})`);
});

type Query = {
  parameters: {
    filters: { key: string; operation: string; value?: unknown }[];
    groupBys?: { value: string }[];
  };
};

test('each query filters and groups by what its alert is about', () => {
  const queries = globSync('docs/alerts/*.json').map((path) => {
    const { parameters }: Query = JSON.parse(readFileSync(path, 'utf8'));
    const { filters, groupBys = [] } = parameters;
    const words = filters.map(({ key, operation, value }) =>
      [key, operation, value].join(' ').trim(),
    );
    return [
      basename(path, '.json'),
      `${words.join(', ')} by ${groupBys.map((each) => each.value)}`,
    ];
  });
  expect(Object.fromEntries(queries)).toEqual({
    'any-500': 'environment eq production, status eq 500 by code,cause',
    'creates-by-key': 'environment eq production, status eq 201 by keyId',
    'mass-401': 'environment eq production, status eq 401 by code,keyId',
    outcomes:
      '$workers.scriptName eq animal-store-production, $workers.outcome neq ok by $workers.outcome,$workers.scriptVersion.id',
    'requests-by-key': 'environment eq production, status exists by keyId',
    'share-of-5xx': 'environment eq production, status exists by status,$workers.scriptVersion.id',
    sweep: 'environment eq production, task exists by finished,cause',
    traffic: 'environment eq production, operation exists by operation',
  });
});
