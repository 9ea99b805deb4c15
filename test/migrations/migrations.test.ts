/**
 * Migrations only expand the schema, because code that is served runs on tables of the next
 * release.
 */
import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startStore } from '../support/store.ts';

const store = startStore();
const read = (path: string) => readFileSync(path, 'utf8');
const MIGRATIONS = globSync('migrations/*').sort();

/**
 * Statements in lower case, without comments. Strings and quoted names are empty, so that no word
 * in them counts.
 */
function statementsOf(migration: string) {
  return migration
    .replaceAll(/--[^\n]*|\/\*.*?(?:\*\/|$)|'[^']*'|"[^"]*"|`[^`]*`|\[[^\]]*\]/gs, (token) =>
      /^[-/]/.test(token) ? ' ' : "''",
    )
    .split(';')
    .map((each) => each.trim().replaceAll(/\s+/g, ' ').toLowerCase())
    .filter(Boolean);
}

const NEW_TABLE = /^create table (\w+)/;
const NEW_INDEX = /^create (?:unique )?index \w+ on (\w+)/;
/**
 * Of plain columns, for rows with plain values: a function could fail for a row that served code
 * writes.
 */
const PLAIN_INDEX =
  /^create index \w+ on \w+ ?\([\w, ]+\)(?: where [\w ',=<>]+(?: in ?\([', ]+\))?)?$/;
const NEW_COLUMN = /^alter table \w+ add (?!constraint )/;
/** Served code writes no value, and a computed one could fail. */
const NEEDS_VALUE = /\bnot null(?! default (?!null))|\bas ?\(/;

/**
 * The statements of a migration that could make a request of served code fail, or change what it
 * reads.
 */
function refusedIn(migration: string) {
  const statements = statementsOf(migration);
  const created = statements.map((sql) => NEW_TABLE.exec(sql)?.[1]);

  function isAllowed(sql: string) {
    // D1 cannot change or remove a CHECK, so a list of values could never grow.
    if (/\bcheck\b/.test(sql)) return false;
    // A row of an old table that is referred to could not be deleted.
    for (const [, table] of sql.matchAll(/\breferences (\S+)/g))
      if (!created.includes(table)) return false;
    if (NEW_TABLE.test(sql) || PLAIN_INDEX.test(sql)) return true;
    const [, indexed] = NEW_INDEX.exec(sql) ?? [];
    if (indexed) return created.includes(indexed);
    return NEW_COLUMN.test(sql) && !NEEDS_VALUE.test(sql);
  }

  return statements.filter((sql) => !isAllowed(sql));
}

test.each(MIGRATIONS)('%s only expands the schema', (path) => {
  expect(refusedIn(read(path))).toEqual([]);
});

test('docs/sql/migrations.sql lists the applied migrations in order', async () => {
  const { results } = await store.bindings().DB.prepare(read('docs/sql/migrations.sql')).all();
  const applied_at = expect.any(String);
  expect(results).toEqual(MIGRATIONS.map((path) => ({ name: basename(path), applied_at })));
});

/** The statements of a schema, without comments and white space. */
function schemaOf(db: DatabaseSync) {
  const rows = db.prepare("SELECT sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'").all();
  const schema = rows.map(({ sql }) => String(sql).replaceAll(/--.*$/gm, ''));
  return schema.map((sql) => sql.replaceAll(/\s*([(),]|\s)\s*/g, '$1')).sort();
}

/** Runs migrations, each over a row in every table of those before it, as in production. */
function runOverRows(migrations: string[]) {
  const db = new DatabaseSync(':memory:');
  for (const migration of migrations) {
    db.exec(`PRAGMA foreign_keys = ON; ${migration}`);
    const inserts = db
      .prepare(
        `SELECT format('INSERT OR IGNORE INTO %s (%s) VALUES (%s)', t.name, group_concat(c.name),
           group_concat(iif(c.type = 'BLOB', 'x''''', '1'))) AS sql
         FROM sqlite_schema t, pragma_table_info(t.name) c
         WHERE t.type = 'table' AND t.name NOT GLOB 'sqlite_*' GROUP BY t.name`,
      )
      .all();
    // The order of tables that refer to each other does not matter.
    db.exec('PRAGMA foreign_keys = OFF');
    for (const { sql } of inserts) db.exec(String(sql));
  }
  return db;
}

const runAfterAll = (sql: string) => runOverRows([...MIGRATIONS.map(read), sql]);

test('the migrations run over rows, and schema.sql is their result', () => {
  const described = new DatabaseSync(':memory:');
  described.exec(read('schema.sql'));
  expect(schemaOf(runAfterAll(''))).toEqual(schemaOf(described));
  // So that a column has values of its type alone.
  const isStrict = `SELECT DISTINCT strict FROM pragma_table_list
    WHERE type = 'table' AND name NOT GLOB 'sqlite_*'`;
  expect(described.prepare(isStrict).all()).toEqual([{ strict: 1 }]);
  // A constant default is allowed.
  runAfterAll("ALTER TABLE pets ADD a TEXT NOT NULL DEFAULT ''");
});

test.each([
  'pets ADD a TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP',
  "orders ADD a TEXT NOT NULL DEFAULT (strftime('%s'))",
  'pets ADD a INTEGER DEFAULT 1 REFERENCES orders',
  "idempotency_keys ADD a INTEGER NOT NULL DEFAULT 'x'",
])('a table with a row refuses ALTER TABLE %s', (change) => {
  expect(() => runAfterAll(`ALTER TABLE ${change}`)).toThrow();
});

test.each([
  'ALTER TABLE pets ADD a TEXT',
  "ALTER TABLE pets ADD a TEXT NOT NULL DEFAULT 'id; -- pets'",
  'CREATE TABLE t (a INTEGER PRIMARY KEY AUTOINCREMENT, b TEXT NOT NULL UNIQUE) STRICT',
  'CREATE TABLE t (a INTEGER PRIMARY KEY); ALTER TABLE pets ADD a INT REFERENCES t',
  '-- DELETE FROM pets;\n/* ; DROP TABLE pets; */ create index i ON pets (name, id)',
  "CREATE INDEX i ON pets (name) WHERE status IN ('sold', 'it''s')",
])('a migration may %s', (sql) => expect(refusedIn(sql)).toEqual([]));

test.each([
  "DELETE FROM pets WHERE status = 'available'",
  'UPDATE pets SET category_id = category_id - 1',
  "INSERT INTO pets (name, category_id) VALUES ('x', 1)",
  'DROP TABLE orders',
  'ALTER TABLE pets DROP status',
  'ALTER TABLE pets RENAME name TO a',
  'ALTER TABLE pets ADD CONSTRAINT c UNIQUE (name)',
  "ALTER TABLE pets ADD a TEXT CHECK (a IN ('f', 'm'))",
  'ALTER TABLE pets ADD a TEXT NOT NULL DEFAULT NULL',
  'ALTER TABLE pets ADD a TEXT GENERATED ALWAYS AS(name || 1)',
  'ALTER TABLE pets ADD a INTEGER REFERENCES IDEMPOTENCY_KEYS',
  'CREATE TABLE t (a INTEGER REFERENCES "pets")',
  'CREATE UNIQUE INDEX i ON pets (name)',
  'CREATE TABLE IF NOT EXISTS pets (a); CREATE UNIQUE INDEX i ON pets (name)',
  'CREATE INDEX i ON pets (lower(name))',
  'CREATE INDEX i ON pets (name) WHERE abs(category_id) > 1',
  'CREATE TRIGGER r INSERT ON pets BEGIN SELECT 1; END',
  "CREATE TABLE t (a) -- it's new\n; DELETE FROM pets -- it's old",
])('a migration may not %s', (sql) => expect(refusedIn(sql)).not.toEqual([]));
