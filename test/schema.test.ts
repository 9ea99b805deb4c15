/** schema.sql is what operators read; the migrations are what runs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { startStore } from './store.ts';

const store = startStore();

/** SQL without comments and white space. */
const plain = (sql: string) =>
  sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*([(),])\s*/g, '$1')
    .trim();

/** The statements that define the database. */
async function definitions(db: D1Database): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
         AND name <> 'd1_migrations'`,
    )
    .all<{ sql: string }>();
  return results.map(({ sql }) => plain(sql)).sort();
}

test('schema.sql equals the result of the migrations', async () => {
  const schema = plain(await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8'));
  const statements = schema.split(';').map((statement) => statement.trim());
  const { DB } = await store.bindings();
  expect(await definitions(DB)).toEqual(statements.filter(Boolean).sort());
});
