/** schema.sql is what operators read; the migrations are what runs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { startStore } from '../support/store.ts';

const store = startStore();
const schema = readFileSync('schema.sql', 'utf8');

/** A statement without comments and white space. */
const normalize = (sql: string) =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*([(),;])\s*/g, '$1')
    .replace(/;$/, '')
    .trim();

const statements = splitSqlQuery(schema).map(normalize).sort();

test('schema.sql equals the result of the migrations', async () => {
  const { DB } = store.bindings();
  const { results } = await DB.prepare(
    `SELECT sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
       AND name <> 'd1_migrations'`,
  ).all<{ sql: string }>();
  expect(results.map(({ sql }) => normalize(sql)).sort()).toEqual(statements);
});

test('every table is STRICT, so that a column has values of its type alone', () => {
  const tables = statements.filter((sql) => sql.startsWith('CREATE TABLE'));
  expect(tables.length).toBeGreaterThan(1);
  for (const table of tables) expect(table).toMatch(/\)[^)]*\bSTRICT\b[^)]*$/);
});
