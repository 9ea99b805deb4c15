/** docs/operations.md and docs/sql agree with the database, and the alerts with the log. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { startStore } from '../support/store.ts';

const page = readFileSync('docs/operations.md', 'utf8');
const store = startStore();

const readSql = (name: string, ids: string) =>
  readFileSync(`docs/sql/${name}.sql`, 'utf8').replace('<ids>', ids);

/** The statements that `rows` of the page prints. */
async function statements(name: string, ids = '') {
  const { DB } = store.bindings();
  const { results } = await DB.prepare(readSql(name, ids)).all<{ sql: string }>();
  return results.flatMap(({ sql }) => splitSqlQuery(sql));
}

test('the page uses every file of docs/sql, with its ids', () => {
  const commands = page.matchAll(/\b(?:sql|rows) ([a-z]+(?:-[a-z_]+)+|migrations)( <ids>)?/g);
  const used = Array.from(commands, ([, name, ids = '']) => `${name}${ids}`);
  const files = globSync('docs/sql/*.sql').map((path) => {
    const [ids = ''] = readFileSync(path, 'utf8').match(/<ids>/g) ?? [];
    return `${basename(path, '.sql')} ${ids}`.trim();
  });
  expect(new Set(used)).toEqual(new Set(files));
});

async function execute(list: string[]) {
  const { DB } = store.bindings();
  await DB.batch(list.map((sql) => DB.prepare(sql)));
}

const REX = { name: "Rex's; -- 🐈", categoryId: 1, status: 'available' };

/** Two animals, the first with an approved order. */
async function createRows() {
  await store.createPet(REX);
  await store.createPet({ ...REX, status: 'sold' });
  await store.exec("INSERT INTO orders (id, pet_id, status) VALUES (5, 1, 'approved')");
}

test('the largest ids are raised for every table, also for an empty one', async () => {
  await createRows();
  const before = await store.rows('sqlite_sequence');
  expect(before).toContainEqual({ name: 'pets', seq: 2 });
  const raise = await statements('raise-ids');
  // A restore to a time when there was one animal, and no order.
  await execute([
    'DELETE FROM pets WHERE id = 2',
    'DELETE FROM orders',
    "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'pets'",
    "DELETE FROM sqlite_sequence WHERE name = 'orders'",
  ]);
  await execute(raise);
  expect(await store.rows('sqlite_sequence')).toEqual(before);
  // They are never lowered.
  await store.createPet(REX);
  const later = await store.rows('sqlite_sequence');
  await execute(raise);
  expect(await store.rows('sqlite_sequence')).toEqual(later);
});

test('some rows are restored exactly', async () => {
  await createRows();
  await store.exec('UPDATE pets SET category_id = 9007199254740993, status = NULL WHERE id = 2');
  const schema = readFileSync('schema.sql', 'utf8').matchAll(/^CREATE TABLE (\w+)/gm);
  // The records of idempotency keys are removed instead.
  const tables = Array.from(schema, ([, table = '']) => table).filter(
    (table) => table !== 'idempotency_keys',
  );
  const before = await Promise.all(tables.map(store.rows));
  const lists = await Promise.all(tables.map((table) => statements(`restore-${table}`, '1,2')));
  expect(await statements('restore-pets', '2')).toHaveLength(1);
  expect(await statements('restore-orders', '5')).toEqual([]);
  // A statement that lacks a column loses its values.
  const columns = lists.map(([sql = '']) => /\((.*?)\)/.exec(sql)?.[1]?.split(', '));
  expect(columns).toEqual(before.map(([row]) => Object.keys(Object(row))));
  await execute([
    'DELETE FROM pets WHERE id = 2',
    'DELETE FROM orders',
    "UPDATE pets SET name = 'x'",
  ]);
  for (const list of lists) await execute(list);
  expect(await Promise.all(tables.map(store.rows))).toEqual(before);
});

test('an open order is restored, and a newer open one is cancelled', async () => {
  await createRows();
  const list = await statements('restore-orders', '1');
  await execute([
    "UPDATE orders SET status = 'cancelled'",
    "INSERT INTO orders (pet_id, status) VALUES (1, 'approved'), (2, 'placed'), (3, 'placed')",
  ]);
  await execute([readSql('cancel-open-orders', '1,2'), ...list]);
  const orders = await store.rows('orders');
  expect(orders.map(({ id, status }) => [id, status])).toEqual([
    [5, 'approved'],
    [6, 'cancelled'],
    [7, 'cancelled'],
    [8, 'placed'],
  ]);
});

test('only animals whose integer an export rounds are saved exactly', async () => {
  for (const categoryId of [2 ** 53, -(2 ** 53), 1, -1])
    await store.createPet({ ...REX, categoryId });
  await store.exec('UPDATE pets SET category_id = category_id * 9007199254740993 WHERE id > 2');
  const before = await store.rows('pets');
  const lines = await statements('large-integers');
  expect(lines).toHaveLength(2);
  await execute(['DELETE FROM pets WHERE id > 2', ...lines]);
  expect(await store.rows('pets')).toEqual(before);
});

test('the page removes the records of idempotency keys older than an hour, or all', async () => {
  const minutes = 60_000;
  for (const age of [62, 61, 59])
    await store.exec(
      `INSERT INTO idempotency_keys (key_hash, request_hash, item_id, item, created_at)
         VALUES (randomblob(32), x'', 1, '{}', ${Date.now() - age * minutes})`,
    );
  const purge = readSql('purge-idempotency-keys', '');
  expect(purge).toContain(' LIMIT 10000\n');
  await execute([purge]);
  expect(await store.rows('idempotency_keys')).toHaveLength(1);
  await execute([readSql('delete-idempotency-keys', '')]);
  expect(await store.rows('idempotency_keys')).toEqual([]);
});

test('the records of a backup of API keys are restored, or that of one key', () => {
  const keys = ['a', 'b'].map((id) => ({ id, label: 'Anna' }));
  const backup = keys.map((metadata) => ({ name: `key:${metadata.id}`, metadata }));
  const input = JSON.stringify([...backup, { name: 'key:c' }]);
  const restore = (...ids: string[]) => {
    const command = ['docs/sql/restore-keys.mjs', ...ids];
    return JSON.parse(`${execFileSync(process.execPath, command, { input, stdio: 'pipe' })}`);
  };
  const restored = backup.map(({ name, metadata }) => ({
    key: name,
    value: JSON.stringify(metadata),
    metadata,
  }));
  expect(restore()).toEqual(restored);
  expect(restore('b')).toEqual(restored.slice(1));
  for (const unknown of ['d', ''])
    expect(() => restore(unknown)).toThrow('Error: the backup has no such record\n');
});

/** The query of an alert in the dialect of SQLite, for a table of log lines. */
const inSqlite = (file: string) =>
  readFileSync(file, 'utf8')
    .replace(/logs\.workersLogs|states\.d1Storage/, 'log_lines')
    .replace('<ACCOUNT_ID>', 'ours')
    .replace(/NOW\(\) - INTERVAL '1' (HOUR|DAY)/, "datetime('now', '-1 $1')")
    .replaceAll(/attributes\['(\w+)'\]/g, "json_extract(attributes, '$.$1')");

/** Accounts, scripts, ages and databases of log lines. The alerts are about the first. */
const PLACES = [
  ['ours', 'animal-store-production', '-59 minutes', '<DATABASE_ID>'],
  ['ours', 'animal-store-production', '-61 minutes', 'another'],
  ['ours', 'animal-store-production', '-25 hours', '<DATABASE_ID>'],
  ['ours', 'animal-store-staging', '-1 minutes', 'another'],
  ['theirs', 'animal-store-production', '-1 minutes', '<DATABASE_ID>'],
];

test('the query of each alert counts what the alert is about', async () => {
  const { DB } = store.bindings();
  for (const path of ['pets', 'health']) await store.fetch(`/v1/${path}`);
  await store.fetch('/v1/pets', { key: 'animal_local_unknown' });
  await store.scheduled();
  const lines = await store.logLines();
  const list = lines.find(({ operation, status }) => operation === 'listPets' && status === 200);
  const sweep = lines.find(({ task }) => task !== undefined);
  lines.push({ ...list, status: 500, d1Ms: 999 });
  lines.push({ ...list, status: 503, cause: 'D1', d1Ms: 1000 });
  // While writes are stopped.
  lines.push({ ...list, status: 503, d1Ms: undefined });
  lines.push({ ...sweep, finished: false }, { ...sweep, task: 'another' });
  await store.exec(
    'CREATE TABLE log_lines (attributes, databaseSizeBytes, accountTag, scriptName, timestamp, databaseId)',
  );
  const insert = DB.prepare("INSERT INTO log_lines VALUES (?, ?, ?, ?, datetime('now', ?), ?)");
  for (const place of PLACES)
    for (const [i, line] of lines.entries())
      await insert.bind(JSON.stringify(line), place === PLACES[0] ? i : 99, ...place).run();
  const found: Record<string, unknown> = {};
  for (const file of globSync('docs/alerts/*.sql'))
    found[basename(file, '.sql')] = await DB.prepare(inSqlite(file)).first('value');
  await store.exec('DROP TABLE log_lines');
  expect(found).toEqual({
    // Those without a time count the older lines, too.
    requests: 3 * 6,
    errors: 3 * 2,
    unauthorized: 3 * 1,
    'd1-requests': 3 * 3,
    'slow-d1-requests': 3 * 1,
    'finished-sweeps': 1,
    'database-size': lines.length - 1,
  });
});
