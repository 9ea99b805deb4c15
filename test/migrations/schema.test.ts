/** schema.sql is what operators read; the migrations are what runs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startStore } from '../support/store.ts';

const store = startStore();
const schema = readFileSync('schema.sql', 'utf8');

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
  const { DB } = store.bindings();
  const { results } = await DB.prepare(
    `SELECT sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
       AND name <> 'd1_migrations'`,
  ).all<{ sql: string }>();
  const migrated = results.map(({ sql }) => sql).join(';');
  expect(statementsOf(migrated)).toEqual(statementsOf(schema));
});

test('every table is STRICT, so that a column has values of its type alone', () => {
  const tables = statementsOf(schema).filter((sql) => sql.startsWith('CREATE TABLE'));
  expect(tables.length).toBeGreaterThan(1);
  for (const table of tables) expect(table).toMatch(/\)[^)]*\bSTRICT\b[^)]*$/);
});
