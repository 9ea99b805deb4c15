/** schema.sql is what operators read; the migrations are what runs. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

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
  const { DB } = await store.bindings();
  const { results } = await DB.prepare(
    `SELECT sql FROM sqlite_schema
     WHERE sql IS NOT NULL AND name NOT GLOB '_cf_*' AND name NOT GLOB 'sqlite_*'
       AND name <> 'd1_migrations'`,
  ).all<{ sql: string }>();
  const schema = await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8');
  const migrated = results.map(({ sql }) => sql).join(';');
  expect(statementsOf(migrated)).toEqual(statementsOf(schema));
});
