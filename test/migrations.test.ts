/** Migrations only expand the schema, because code that is served runs on tables of the next release. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Miniflare } from 'miniflare';
import { afterAll, describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { problemsOf } from './migrations.ts';

const folder = join(PROJECT_ROOT, 'migrations');
const names = readdirSync(folder).sort();
const migrations = names.map((name) => readFileSync(join(folder, name), 'utf8'));

const databases = Array.from({ length: 40 }, (_, i) => `database-${i}`);
const env = Object.fromEntries(databases.map((id) => [id, { type: 'd1' as const, id }]));
const contents = 'export default { fetch() {} };';
const modules = { 'index.js': { type: 'esm' as const, contents } };
const manifest = { mainModule: 'index.js', modules };
const config = { name: 'holder', compatibilityDate: '2026-11-17', manifest, env };
const runtime = new Miniflare({ workers: [{ config }] });
afterAll(() => runtime.dispose());

/** The problems of the last of some migrations, on an empty database. */
async function check(list: string[]): Promise<string[]> {
  return problemsOf(await runtime.getD1Database(databases.pop() ?? '', 'holder'), list);
}

test.each(names.map((name, i) => [name, i] as const))(
  '%s only expands the schema',
  async (_, i) => {
    expect(await check(migrations.slice(0, i + 1))).toEqual([]);
  },
);

describe('a migration may', () => {
  test.each([
    ['add a nullable column', 'ALTER TABLE pets ADD COLUMN note TEXT'],
    ['add a column with a default', "ALTER TABLE pets ADD note TEXT NOT NULL DEFAULT 'DROP; pets'"],
    ['add a checked column', "ALTER TABLE pets ADD COLUMN sex TEXT CHECK (sex IN ('f', 'm'))"],
    [
      'add two columns',
      'ALTER TABLE orders ADD a TEXT; ALTER TABLE orders ADD b INTEGER DEFAULT 0',
    ],
    ['create a table', 'CREATE TABLE vets (id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT'],
    ['create a unique index of it', 'CREATE TABLE t (a TEXT); CREATE UNIQUE INDEX i ON t (a)'],
    ['create an index', 'CREATE INDEX pets_by_name ON pets (name)'],
    ['create a partial index', "CREATE INDEX i ON orders (placed_at) WHERE status = 'placed'"],
    ['fill a new table', 'CREATE TABLE names (name TEXT); INSERT INTO names SELECT name FROM pets'],
    ['have comments', '-- DROP TABLE pets\nCREATE INDEX i ON pets (category_id) /* UPDATE */'],
  ])('%s', async (_, sql) => {
    expect(await check([...migrations, sql])).toEqual([]);
  });
});

const COLUMNS = 'id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT, category_id INTEGER, status TEXT';

describe('a migration may not', () => {
  test.each([
    ['drop a table', 'DROP TABLE orders', 'gone'],
    ['drop a column', 'DROP INDEX pets_by_status; ALTER TABLE pets DROP COLUMN status', 'gone'],
    ['rename a column', 'ALTER TABLE pets RENAME COLUMN name TO title', 'gone'],
    ['require a column', 'ALTER TABLE pets ADD COLUMN note TEXT NOT NULL', 'fails'],
    ['refuse old rows', 'ALTER TABLE pets ADD note TEXT CHECK (note IS NOT NULL)', 'fails'],
    ['check old columns', 'ALTER TABLE pets ADD note TEXT CHECK (note <> name)', 'names name'],
    [
      'reference an old table',
      'ALTER TABLE pets ADD a INTEGER REFERENCES orders (id)',
      'names orders',
    ],
    ['restrict an old table', 'CREATE TABLE t (a INTEGER REFERENCES pets (id))', 'references pets'],
    ['make a column unique', 'CREATE UNIQUE INDEX i ON pets (name)', 'unique'],
    ['drop an index', 'DROP INDEX pets_by_status', 'index pets_by_status'],
    ['index an expression', 'CREATE INDEX i ON pets (json(name))', 'fails|expression'],
    ['index another expression', 'CREATE INDEX i ON pets (lower(name))', 'expression'],
    ['create a trigger', 'CREATE TRIGGER t BEFORE INSERT ON pets BEGIN SELECT 1; END', 'trigger'],
    ['create a view', 'CREATE VIEW v AS SELECT * FROM pets', 'view'],
    ['change rows', 'UPDATE pets SET name = upper(name)', 'rows'],
    ['delete rows', 'DELETE FROM orders WHERE id = 1', 'rows'],
    ['add rows', "INSERT INTO pets (name, category_id) VALUES ('x', 1)", 'rows'],
    ['issue ids again', 'UPDATE sqlite_sequence SET seq = 2', 'largest ids'],
    [
      'recreate a table without its checks',
      `CREATE TABLE t (${COLUMNS}) STRICT; INSERT INTO t SELECT * FROM pets; DROP TABLE pets; ALTER TABLE t RENAME TO pets`,
      'definition',
    ],
  ])('%s', async (_, sql, problem) => {
    expect((await check([...migrations, sql])).join()).toMatch(new RegExp(problem));
  });
});
