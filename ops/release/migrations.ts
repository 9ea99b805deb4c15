/** The migrations of a release: they must only expand, because old code runs on the new tables. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import * as z from 'zod';
import { oneLine } from '../command-line.ts';
import { type Build, git, testOldCode, withBuild } from './build.ts';
import type { Target } from './cloudflare.ts';

/** The migrations to apply. @throws Error if one is not safe for the code that is served, the commit `old`. */
export async function checkMigrations(target: Target, build: Build, old?: string) {
  const pending = await pendingMigrations(target, build);
  if (!old && pending.length > 0)
    throw new Error('what is served was made by hand: roll back before applying migrations');
  for (const name of pending) {
    const sql = await readFile(join(build.folder, 'migrations', name), 'utf8');
    const [statement] = contractingStatements(sql);
    const reason = /^-- contracts: (.*\S)/m.exec(sql)?.[1];
    if (statement && !reason)
      throw new Error(
        `${name} does not only expand: ${statement} (docs/operations.md, Migrations)`,
      );
    if (statement) console.log(`${name} contracts: ${reason}`);
  }
  if (!old) return pending;
  const range = ['--diff-filter=MRT', old, build.commit, '--', 'migrations/*.sql'];
  const changed = await git(['diff', '--name-only', ...range]);
  if (changed) throw new Error(`${oneLine(changed)} was released and has changed: add another`);
  if (pending.length > 0) await withBuild(old, (served) => testOldCode(served, build));
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
  const Results = z.array(z.object({ results: z.array(z.object({ name: z.string() })) }));
  const query = ['--json', '--command', 'SELECT name FROM d1_migrations'];
  const execute = ['d1', 'execute', 'DB', '--remote', ...query];
  const text = await target.withSettings(execute).catch((error) => {
    if (/no such table: d1_migrations/.test(error.message)) return '[]';
    throw error;
  });
  const applied = Results.parse(JSON.parse(text)).flatMap(({ results }) => results);
  const names = (await readdir(join(folder, 'migrations'))).filter((name) => name.endsWith('.sql'));
  return names.sort().filter((name) => !applied.some((each) => each.name === name));
}

/** The statements of a migration that old code may not live with. */
export function contractingStatements(sql: string): string[] {
  const created = new Set<string>();
  return splitSqlQuery(sql)
    .map(normalize)
    .filter((statement) => {
      const table = /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.[1];
      if (table) created.add(table);
      const [index, unique, on = ''] =
        /^CREATE (UNIQUE )?INDEX .*? ON (\w+)/i.exec(statement) ?? [];
      const column = /^ALTER TABLE \w+ ADD (?:COLUMN )?\w+(.*)/i.exec(statement)?.[1];
      const isOptional = !/\bNOT NULL\b/i.test(column ?? '') || /\bDEFAULT\b/i.test(column ?? '');
      const isIndex = index && (!unique || created.has(on));
      return statement !== '' && !table && !isIndex && !(column !== undefined && isOptional);
    });
}

/** A statement in one line, with its strings emptied and names unquoted: a word in them is no keyword. */
function normalize(statement: string): string {
  const withoutComments = statement.replaceAll(/'(?:[^']|'')*'|--.*|\/\*[\s\S]*?\*\//g, (part) =>
    part.startsWith("'") ? "''" : ' ',
  );
  const names = /"([^"]*)"|`([^`]*)`|\[([^\]]*)\]/g;
  return oneLine(
    withoutComments.replaceAll(names, (name) => name.slice(1, -1).replace(/\W/g, '_')),
  );
}
