/** Migrations only expand the schema, because code that is served runs on tables of the next release. */
import { readdirSync, readFileSync } from 'node:fs';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, expect, test } from 'vitest';
import { problemsOf, type Run } from './migrations.ts';

const names = readdirSync('migrations').sort();
const migrations = names.map((name) => readFileSync(`migrations/${name}`, 'utf8'));

/** Runs statements in one request. From this process, each `prepare` would be a request of its own. */
const script = `export default {
  async fetch(request, { DB }) {
    const statements = (await request.json()).map((sql) => DB.prepare(sql));
    const fail = (error) => new Response(String(error), { status: 500 });
    return DB.batch(statements).then(Response.json, fail);
  }
}`;
const options = { modules: true, script, d1Databases: ['DB'] };
const runtime = new Miniflare(convertV4MiniflareOptions(options));
afterAll(() => runtime.dispose());

const run: Run = async (statements) => {
  // D1 rejects an empty batch.
  if (statements.length === 0) return [];
  const init = { method: 'POST', body: JSON.stringify(statements) };
  const response = await runtime.dispatchFetch('http://localhost', init);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
};

/** The problems of the last of some migrations. */
const check = async (list: string[]) => (await problemsOf(run, list)).join('\n');

test.each(names.map((name, before) => ({ name, before })))(
  '$name only expands the schema',
  async ({ before }) => {
    expect(await check(migrations.slice(0, before + 1))).toBe('');
  },
);

// The names are those of no table, column or index that a resource could need.
test.each([
  'ALTER TABLE pets ADD COLUMN test_a TEXT',
  "ALTER TABLE pets ADD test_a TEXT NOT NULL DEFAULT 'id; -- pets'",
  'ALTER TABLE pets ADD test_a INT; ALTER TABLE pets ADD test_b INT',
  'CREATE TABLE test_t (a INTEGER PRIMARY KEY AUTOINCREMENT) STRICT',
  'CREATE TABLE test_t (test_a TEXT UNIQUE)',
  'CREATE TABLE test_t AS SELECT name FROM pets',
  'CREATE TABLE test_t (a INTEGER PRIMARY KEY); ALTER TABLE pets ADD test_a INT REFERENCES test_t',
  'CREATE TABLE test_t (a TEXT); CREATE UNIQUE INDEX test_i ON Test_T (a)',
  '-- DELETE FROM pets;\n/* ; DROP TABLE pets; */ create index test_i ON pets (name)',
  "CREATE INDEX test_i ON pets (name) WHERE status = 'sold'",
])('a migration may %s', async (sql) => {
  expect(await check([...migrations, sql])).toBe('');
});

test.each([
  "DELETE FROM pets WHERE status = 'available'",
  "/* old orders */ DELETE FROM orders WHERE placed_at < '2020'",
  'UPDATE pets SET category_id = category_id - 1',
  "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'pets'",
  'DELETE FROM sqlite_sequence',
  "INSERT INTO pets (name, category_id) VALUES ('x', 1)",
  'REPLACE INTO pets (id, name, category_id) VALUES (1, NULL, 1)',
  'WITH old AS (SELECT 1 AS id) DELETE FROM pets WHERE id IN old',
  'DROP TABLE orders',
  'DROP INDEX pets_by_status',
  'ALTER TABLE pets DROP status',
  'ALTER TABLE pets RENAME name TO test_a',
  'ALTER TABLE pets RENAME TO test_t',
  'ALTER TABLE pets ADD CONSTRAINT test_c CHECK (1)',
  "ALTER TABLE pets ADD test_a TEXT CHECK (test_a IN ('f', 'm'))",
  'CREATE TABLE test_t (a TEXT, CHECK(a IS NOT NULL))',
  'CREATE UNIQUE INDEX test_i ON pets (name)',
  'CREATE UNIQUE INDEX test_i ON "pets" (name)',
  'CREATE TABLE IF NOT EXISTS pets (a); CREATE UNIQUE INDEX test_i ON pets (name)',
  'CREATE TRIGGER test_r INSERT ON pets BEGIN SELECT 1; END',
  'CREATE VIEW test_v AS SELECT * FROM pets',
  'CREATE VIRTUAL TABLE test_t USING fts5 (name)',
  'CREATE TEMP TABLE test_t (a)',
  'PRAGMA writable_schema = 1',
  "CREATE TABLE test_t (a DEFAULT ';'); DELETE FROM pets",
  'CREATE TABLE test_t (begin); DELETE FROM pets',
  "CREATE TABLE test_t (a) -- it's new\n; DELETE FROM pets -- it's old",
])('a migration may not %s', async (sql) => {
  expect(await check([...migrations, sql])).toMatch(
    /^a migration may have CREATE TABLE, .*, not: /,
  );
});

test('each statement that is refused is named', async () => {
  const sql = "CREATE TABLE a (b); DELETE FROM pets WHERE name = ';';\n-- All.\nDROP TABLE orders;";
  const problems = await problemsOf(run, [...migrations, sql]);
  expect(problems.map((each) => each.split(', not: ')[1])).toEqual([
    "delete from pets where name = ''",
    'drop table orders',
  ]);
});

/** What is allowed in form, but not in effect. */
test.each(
  Object.entries({
    'ALTER TABLE pets ADD test_a TEXT NOT NULL': 'NOT NULL',
    'ALTER TABLE idempotency_keys ADD test_a TEXT NOT NULL': 'NOT NULL',
    'ALTER TABLE pets ADD test_a TEXT AS (name || 1)': 'table of pets',
    'ALTER TABLE pets ADD test_a INTEGER REFERENCES test_t': 'no such table',
    'CREATE TABLE test_t (a INT); ALTER TABLE pets ADD test_a INT REFERENCES test_t (a)':
      'foreign key mismatch',
    'ALTER TABLE pets ADD test_a INTEGER REFERENCES idempotency_keys': 'reference of pets',
    'ALTER TABLE pets ADD test_a INTEGER REFERENCES IDEMPOTENCY_KEYS': 'reference of pets',
    'CREATE TABLE test_t (test_a INTEGER REFERENCES pets)': 'reference of test_t',
    'CREATE TABLE test_t (test_a INTEGER REFERENCES Pets (id))': 'reference of test_t',
    'CREATE INDEX test_i ON pets (lower(name))': 'expression of pets',
    'CREATE INDEX test_i ON pets (name) WHERE abs(category_id) > 1': 'integer overflow',
  }),
)('a migration may not %s', async (sql, problem) => {
  const problems = await check([...migrations, sql]);
  expect(problems).toContain(problem);
  expect(problems).not.toContain('a migration may have');
});

test('the rows of a new table come from the types of its columns', async () => {
  const table = `CREATE TABLE test_t (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, size INTEGER NOT NULL,
    share REAL NOT NULL, photo BLOB NOT NULL
  ) STRICT`;
  const last = (sql: string) => check([...migrations, `${table};`, sql]);
  expect(await last('ALTER TABLE test_t ADD test_a TEXT')).toBe('');
  expect(await last('ALTER TABLE test_t ADD test_a TEXT NOT NULL')).toContain('NOT NULL');
  await expect(check([...migrations, 'CREATE TABLE test_t (a ANY);', ''])).rejects.toThrow(
    'test/migrations/migrations.ts has no values for test_t.a of the type ANY',
  );
});
