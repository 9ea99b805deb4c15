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
  const init = { method: 'POST', body: JSON.stringify(statements) };
  const response = await runtime.dispatchFetch('http://localhost', init);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return JSON.parse(text);
};

/** The problems of the last of some migrations. */
const check = async (list: string[]) => (await problemsOf(run, list)).join('\n');

// The first one has no tables to keep.
test.each(names.slice(1).map((name, i) => ({ name, before: i + 1 })))(
  '$name only expands the schema',
  async ({ before }) => {
    expect(await check(migrations.slice(0, before + 1))).toBe('');
  },
);

// The names are those of no table, column or index that a resource could need.
test.each([
  'ALTER TABLE pets ADD COLUMN test_a TEXT',
  "ALTER TABLE pets ADD test_a TEXT NOT NULL DEFAULT 'id; -- pets'",
  "ALTER TABLE pets ADD test_a TEXT CHECK (test_a IN ('f', 'm'))",
  'ALTER TABLE pets ADD test_a INT; ALTER TABLE pets ADD test_b INT',
  'CREATE TABLE test_t (a INTEGER PRIMARY KEY AUTOINCREMENT) STRICT',
  'CREATE TABLE test_t (test_a TEXT UNIQUE)',
  'CREATE TABLE test_t AS SELECT name FROM pets',
  'CREATE TABLE test_t (a INTEGER PRIMARY KEY); ALTER TABLE pets ADD test_a INT REFERENCES test_t',
  'CREATE INDEX test_i ON pets (name)',
  "CREATE INDEX test_i ON pets (name) WHERE status = 'sold'",
])('a migration may %s', async (sql) => {
  expect(await check([...migrations, sql])).toBe('');
});

test.each(
  Object.entries({
    'DROP TABLE orders': 'no such table',
    'DROP INDEX pets_by_status; ALTER TABLE pets DROP status': 'no such column',
    'ALTER TABLE pets RENAME name TO test_a': 'no such column',
    'ALTER TABLE pets ADD test_a TEXT NOT NULL': 'NOT NULL',
    'ALTER TABLE pets ADD test_a TEXT CHECK (test_a IS NOT NULL)': 'CHECK',
    'ALTER TABLE pets ADD test_a TEXT CHECK (test_a <> NAME)': 'table of pets',
    'ALTER TABLE pets ADD test_a INTEGER REFERENCES test_t': 'no such table',
    'CREATE TABLE test_t (a INT); ALTER TABLE pets ADD test_a INT REFERENCES test_t (a)':
      'foreign key mismatch',
    'ALTER TABLE pets ADD test_a INTEGER REFERENCES orders': 'reference of pets',
    'ALTER TABLE pets ADD test_a INTEGER REFERENCES ORDERS': 'reference of pets',
    'CREATE TABLE test_t (test_a INTEGER REFERENCES pets)': 'reference of test_t',
    'CREATE TABLE test_t (test_a INTEGER REFERENCES Pets (id))': 'reference of test_t',
    'CREATE UNIQUE INDEX test_i ON pets (name)': 'unique index of pets',
    'DROP INDEX pets_by_status': 'index of pets',
    'CREATE INDEX test_i ON pets (lower(name))': 'expression of pets',
    'CREATE TRIGGER test_r INSERT ON pets BEGIN SELECT 1; END': 'trigger of pets',
    'CREATE VIEW test_v AS SELECT * FROM pets': 'view of test_v',
    'UPDATE pets SET category_id = category_id - 1': 'row of pets',
    'UPDATE pets SET category_id = 0 WHERE category_id < 0': 'row of pets',
    "UPDATE pets SET status = 'available' WHERE status = 'pending'": 'row of pets',
    "UPDATE pets SET status = 'available' WHERE status IS NULL": 'row of pets',
    "DELETE FROM orders WHERE status = 'cancelled'": 'row of orders',
    "DELETE FROM idempotency_keys WHERE response = ''": 'row of idempotency_keys',
    "INSERT INTO pets (name, category_id) VALUES ('x', 1)": 'row of pets',
    'UPDATE sqlite_sequence SET seq = 1': 'largest id of pets',
  }),
)('a migration may not %s', async (sql, problem) => {
  expect(await check([...migrations, sql])).toContain(problem);
});

test.each([
  { before: 'name TEXT', after: 'name TEXT COLLATE NOCASE' },
  { before: ') STRICT', after: ', test_a TEXT)' },
])('a migration may not recreate pets with "$after"', async ({ before, after }) => {
  const sql = `DROP TABLE pets; ${migrations[0]?.replace(before, after)}`;
  expect(await check([...migrations, sql])).toContain('table of pets');
});
