import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { startStore } from './store.ts';

const store = startStore();

type Definition = { type: string; name: string; sql: string | null };

/** The statements that define the database, without comments and white space. */
async function definitions(db: D1Database): Promise<Definition[]> {
  const { results } = await db
    .prepare(
      `SELECT type, name, sql FROM sqlite_schema
       WHERE name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
         AND name <> 'd1_migrations'
       ORDER BY type, name`,
    )
    .all<Definition>();
  return results.map(({ sql, ...rest }) => ({ ...rest, sql: sql && plain(sql) }));
}

function plain(sql: string): string {
  return sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\s*([(),])\s*/g, '$1')
    .trim();
}

test('schema.sql equals the result of the migrations', async () => {
  const { DB } = await store.bindings();
  const migrated = await definitions(DB);
  expect(migrated.length).toBeGreaterThan(0);

  const schema = plain(await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8'));
  const statements = schema.split(';').filter((statement) => statement !== '');
  for (const { type, name } of migrated) await DB.prepare(`DROP ${type} IF EXISTS ${name}`).run();
  expect(await definitions(DB)).toEqual([]);
  for (const statement of statements) await DB.prepare(statement).run();
  expect(await definitions(DB)).toEqual(migrated);
});

test('the tables reject ids outside int64 and rounded numbers', async () => {
  const { DB } = await store.bindings();
  const insert = (value: string) =>
    DB.prepare(`INSERT INTO pets (name, category_id) VALUES ('x', ${value})`).run();
  await expect(insert('9223372036854775808')).rejects.toThrow('cannot store REAL value');
  await expect(insert('1.5')).rejects.toThrow('cannot store REAL value');
});
