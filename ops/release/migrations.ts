/** The migrations of a release: they must only expand, because old code runs on the new tables. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import * as z from 'zod';
import { oneLine } from '../command-line.ts';
import { type Build, testOldCode, withBuild } from './build.ts';
import type { Target } from './cloudflare.ts';

const Query = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));

/** The migrations to apply. @throws Error if one is not safe for the code that is served, the commit `old`. */
export async function checkMigrations(target: Target, build: Build, old?: string) {
  const pending = await pendingMigrations(target, build);
  if (!old && pending.length > 0)
    throw new Error('what is served was made by hand: roll back before applying migrations');
  for (const name of pending) {
    const sql = await readFile(join(build.folder, 'migrations', name), 'utf8');
    const [statement] = contractingStatements(sql);
    const reason = /^-- contracts: (.*\S)/m.exec(sql)?.[1];
    const fix = '(docs/operations.md, Migrations)';
    if (statement && !reason) throw new Error(`${name} does not only expand: ${statement} ${fix}`);
    if (statement) console.log(`${name} contracts: ${reason}`);
  }
  if (old && pending.length > 0) await withBuild(old, (served) => testOldCode(served, build));
  return pending;
}

export async function applyMigrations(target: Target, build: Build): Promise<void> {
  console.log(`Applying migrations. To restore what was before: ${new Date().toISOString()}`);
  const apply = ['d1', 'migrations', 'apply', 'DB', '--remote'];
  const failure: unknown = await target.withSettings(apply).catch((error) => error);
  // It can fail after it took effect.
  if ((await pendingMigrations(target, build)).length > 0) throw failure;
}

/** Those that the database lacks. (`d1 migrations list` would write.) */
async function pendingMigrations(target: Target, { folder }: Build): Promise<string[]> {
  const query = ['--json', '--command', 'SELECT name FROM d1_migrations'];
  const execute = ['d1', 'execute', 'DB', '--remote', ...query];
  const text = await target.withSettings(execute).catch((error) => {
    if (/no such table: d1_migrations/.test(error.message)) return '[]';
    throw error;
  });
  const [applied] = Query.parse(JSON.parse(text));
  const names = new Set((await readdir(join(folder, 'migrations'))).sort());
  for (const { name } of applied?.results ?? []) names.delete(name);
  return [...names];
}

/** The statements of a migration that old code may not live with. */
export function contractingStatements(sql: string): string[] {
  const statements = splitSqlQuery(sql).map(normalize);
  const tables = statements.map(
    (each) => /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(each)?.[1],
  );
  return statements.filter((statement, i) => {
    const [index, unique, on] = /^CREATE (UNIQUE )?INDEX .*? ON (\w+)/i.exec(statement) ?? [];
    if (index) return unique !== undefined && !tables.slice(0, i).includes(on);
    const column = /^ALTER TABLE \w+ ADD (?:COLUMN )?\w+(.*)/i.exec(statement)?.[1];
    if (column !== undefined) return /\bNOT NULL\b/i.test(column) && !/\bDEFAULT\b/i.test(column);
    return statement !== '' && !tables[i];
  });
}

/** A statement in one line, with its strings emptied and names unquoted: a word in them is no keyword. */
function normalize(statement: string): string {
  const parts = /'(?:[^']|'')*'|--.*|\/\*[\s\S]*?\*\/|"[^"]*"|`[^`]*`|\[[^\]]*\]/g;
  const replaced = statement.replaceAll(parts, (part) => {
    if (/^(--|\/)/.test(part)) return ' ';
    return part.startsWith("'") ? "''" : part.slice(1, -1).replaceAll(/\W/g, '_');
  });
  return oneLine(replaced);
}
