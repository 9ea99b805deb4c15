/** docs/operations.md and docs/sql agree with the database, and the alerts with the log. */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { startStore } from '../support/store.ts';

const page = readFileSync('docs/operations.md', 'utf8');
const store = startStore();

/** A file of docs/sql, for the ids that the page passes. */
const readSql = (name: string, ids: string) =>
  readFileSync(`docs/sql/${name}.sql`, 'utf8').replace('<ids>', ids);

/** The statements that a file generates: `rows <name> <ids>` on the page. */
async function statements(name: string, ids = '') {
  const { DB } = store.bindings();
  const { results } = await DB.prepare(readSql(name, ids)).all<{ sql: string }>();
  return results.flatMap(({ sql }) => splitSqlQuery(sql));
}

test('the page uses every file of docs/sql, with its ids, and D1 runs it', async () => {
  const commands = page.matchAll(/\b(?:sql|rows) ([a-z]+(?:-[a-z_]+)+|migrations)( <ids>)?/g);
  const used = new Set(Array.from(commands, ([, name, ids = '']) => `${name}${ids}`));
  const files = globSync('docs/sql/*.sql').map((path) => {
    const sql = readFileSync(path, 'utf8');
    return { sql, use: basename(path, '.sql') + (sql.includes('<ids>') ? ' <ids>' : '') };
  });
  expect(used).toEqual(new Set(files.map(({ use }) => use)));
  await execute(files.map(({ sql }) => sql.replace('<ids>', '1')));
});

async function execute(list: string[]) {
  const { DB } = store.bindings();
  await DB.batch(list.map((sql) => DB.prepare(sql)));
}

const REX = { name: "Rex's; -- 🐈", categoryId: 1, status: 'available' };

/** Two animals, the first with an order. */
async function createRows() {
  await store.createPet(REX);
  await store.createPet({ ...REX, status: 'sold' });
  await store.exec('INSERT INTO orders (pet_id) VALUES (1)');
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
  // A statement that lacks a column loses its values.
  const columns = lists.map(([sql = '']) => /\((.*?)\)/.exec(sql)?.[1]?.split(', '));
  expect(columns).toEqual(before.map(([row]) => Object.keys(Object(row))));
  await execute([
    'DELETE FROM pets WHERE id = 2',
    "UPDATE orders SET status = 'cancelled'",
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
    "INSERT INTO orders (pet_id, status) VALUES (1, 'approved')",
  ]);
  await execute([readSql('cancel-open-orders', '1'), ...list]);
  expect(await store.rows('orders')).toMatchObject([
    { id: 1, status: 'placed' },
    { id: 2, status: 'cancelled' },
  ]);
});

test('only an animal whose integer an export rounds is saved exactly', async () => {
  for (const categoryId of [2 ** 53, -(2 ** 53)]) await store.createPet({ ...REX, categoryId });
  await store.createPet(REX);
  await store.exec('UPDATE pets SET category_id = -9007199254740993 WHERE id = 3');
  const before = await store.rows('pets');
  const lines = await statements('large-integers');
  expect(lines.length).toBe(1);
  await execute(['DELETE FROM pets WHERE id = 3', ...lines]);
  expect(await store.rows('pets')).toEqual(before);
});

test('the page removes the records of idempotency keys older than an hour, or all', async () => {
  const minutes = 60_000;
  for (const age of [61, 59, 58])
    await store.exec(
      `INSERT INTO idempotency_keys (key_hash, request_hash, item_id, item, created_at)
         VALUES (randomblob(32), x'', 1, '{}', ${Date.now() - age * minutes})`,
    );
  await execute([readSql('purge-idempotency-keys', '')]);
  expect(await store.rows('idempotency_keys')).toHaveLength(2);
  await execute([readSql('delete-idempotency-keys', '')]);
  expect(await store.rows('idempotency_keys')).toEqual([]);
});

const metadataOf = (id: string) => ({ id, label: 'Anna', createdAt: '2026-11-20T09:30:00.000Z' });

/**
 * What docs/sql/restore-keys.mjs prints for a backup of two keys, and of one whose record has no
 * metadata.
 */
function restoreKeys(...args: string[]) {
  const backup = [
    { name: 'key:a', metadata: metadataOf('key_1') },
    { name: 'key:b', metadata: metadataOf('key_2') },
    { name: 'key:c' },
  ];
  const input = JSON.stringify(backup);
  const command = ['docs/sql/restore-keys.mjs', ...args];
  return JSON.parse(
    execFileSync(process.execPath, command, { input, encoding: 'utf8', stdio: 'pipe' }),
  );
}

/** A record in the input of `wrangler kv bulk put`. */
const restored = (key: string, metadata: object) => ({
  key,
  value: JSON.stringify(metadata),
  metadata,
});

test('the records of a backup of API keys are restored, but not one without metadata', () => {
  const all = [restored('key:a', metadataOf('key_1')), restored('key:b', metadataOf('key_2'))];
  expect(restoreKeys()).toEqual(all);
});

test('the record of one key is restored alone', () => {
  expect(restoreKeys('key_2')).toEqual([restored('key:b', metadataOf('key_2'))]);
  for (const unknown of ['key_3', ''])
    expect(() => restoreKeys(unknown)).toThrow('the backup has no such record');
});

/** A query of an alert in the dialect of SQLite, for a table of log lines. */
const inSqlite = (alert: string) =>
  readFileSync(`docs/alerts/${alert}.sql`, 'utf8')
    .replace('logs.workersLogs', 'log_lines')
    .replace('<ACCOUNT_ID>', 'ours')
    .replace("NOW() - INTERVAL '1' HOUR", "datetime('now', '-1 hour')")
    .replaceAll(/attributes\['(\w+)'\]/g, "json_extract(attributes, '$.$1')");

test('each query of an alert counts the lines that its alert is about', async () => {
  const { DB } = store.bindings();
  await store.createPet(REX);
  await store.fetch('/v1/pets');
  await store.fetch('/v1/health');
  await store.fetch('/v1/pets', { key: 'animal_local_unknown' });
  await store.scheduled();
  const lines = await store.logLines();
  const list = lines.find(({ operation }) => operation === 'listPets');
  const sweep = lines.find(({ task }) => task !== undefined);
  lines.push({ ...list, status: 500 }, { ...list, status: 503, cause: 'D1', d1Ms: 5000 });
  // While writes are stopped.
  lines.push({ ...list, status: 503, d1Ms: undefined });
  lines.push({ ...sweep, finished: false });
  await store.exec('CREATE TABLE log_lines (accountTag, scriptName, timestamp, attributes)');
  for (const script of ['animal-store-production', 'animal-store-staging'])
    for (const line of lines)
      await DB.prepare(`INSERT INTO log_lines VALUES ('ours', ?, datetime('now'), ?)`)
        .bind(script, JSON.stringify(line))
        .run();

  const alerts = ['requests', 'errors', 'unauthorized', 'd1-requests', 'slow-d1-requests'];
  const counts = [...alerts, 'finished-sweeps'].map(async (alert) => [
    alert,
    await DB.prepare(inSqlite(alert)).first('value'),
  ]);
  const counted = Object.fromEntries(await Promise.all(counts));
  await store.exec('DROP TABLE log_lines');
  expect(counted).toEqual({
    requests: 7,
    errors: 2,
    unauthorized: 1,
    'd1-requests': 4,
    'slow-d1-requests': 1,
    'finished-sweeps': 1,
  });
});
