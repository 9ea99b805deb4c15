/** The migrations of a release: they must only expand, because old code runs on the new tables. */
import { cp, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTestHarness, unstable_splitSqlQuery as splitSqlQuery } from 'wrangler';
import { recordName } from '../../src/auth/key-record.ts';
import { oneLine } from '../command-line.ts';
import { LOCAL_KEY, LOCAL_KEY_RECORD } from '../local/store.ts';
import { smokeTest } from '../smoke.ts';
import { type Build, buildCommit } from './build.ts';
import type { Target } from './cloudflare.ts';

/** The migrations to apply. @throws Error if one is not safe for the code that is served, the commit `old`. */
export async function checkMigrations(target: Target, next: Build, old?: string) {
  const pending = await pendingMigrations(target, next);
  if (pending.length === 0) return pending;
  if (!old) throw new Error('what is served was made by hand: roll back before migrations');
  for (const name of pending) {
    const sql = await readFile(join(next.folder, 'migrations', name), 'utf8');
    const [statement] = contractingStatements(sql);
    const reason = /^-- contracts: (.*\S)/m.exec(sql)?.[1];
    if (statement && !reason) throw new Error(`${name} does not only expand: ${statement}`);
    if (statement) console.log(`${name} contracts: ${reason}`);
  }
  await testOldCode(await buildCommit(old), next).catch((cause) => {
    const what = `commit ${old.slice(0, 8)}, which is served, fails on the new migrations`;
    throw new Error(`${what}: ${oneLine(cause)}`, { cause });
  });
  return pending;
}

export async function applyMigrations(target: Target, build: Build): Promise<void> {
  console.log(`Applying migrations. To restore what was before: ${new Date().toISOString()}`);
  const apply = ['d1', 'migrations', 'apply', 'DB', '--remote'];
  await target.withSettings(apply).catch(async (failure) => {
    // It can fail after it took effect.
    if ((await pendingMigrations(target, build)).length > 0) throw failure;
  });
}

/** Those that the database lacks. (`d1 migrations list` would write.) */
async function pendingMigrations(target: Target, { folder }: Build): Promise<string[]> {
  const query = ['--json', '--command', 'SELECT name FROM d1_migrations'];
  const output = await target.withSettings(['d1', 'execute', 'DB', '--remote', ...query]);
  const [{ results }]: [{ results: { name: string }[] }] = JSON.parse(output);
  const applied = new Set(results.map(({ name }) => name));
  const names = await readdir(join(folder, 'migrations'));
  return names.filter((name) => name.endsWith('.sql') && !applied.has(name)).sort();
}

/** The statements of a migration that old code may not live with. */
export function contractingStatements(sql: string): string[] {
  const statements = splitSqlQuery(sql).map(withoutLiterals).filter(Boolean);
  const created = statements.map((each) => /^CREATE TABLE (\w+)/i.exec(each)?.[1]);
  return statements.filter((statement, i) => {
    const uniqueOn = /^CREATE UNIQUE INDEX .*? ON (\w+)/i.exec(statement)?.[1];
    if (uniqueOn) return !created.slice(0, i).includes(uniqueOn);
    const isNullable = !/\bNOT NULL\b/i.test(statement) || /\bDEFAULT\b/i.test(statement);
    const isChecked = /\b(CHECK|REFERENCES|AS)\b/i.test(statement);
    if (/^ALTER TABLE \S+ ADD /i.test(statement)) return !isNullable || isChecked;
    return !/^CREATE (TABLE|INDEX) /i.test(statement);
  });
}

/** A statement in one line, without comments, and with its strings and quoted names emptied: they are no keywords. */
function withoutLiterals(statement: string): string {
  const parts = /'(?:[^']|'')*'|"[^"]*"|`[^`]*`|\[[^\]]*\]|--.*|\/\*[\s\S]*?\*\//g;
  return oneLine(statement.replaceAll(parts, (part) => (/^[-/]/.test(part) ? ' ' : "''")));
}

/** Tests that an old build lives with the migrations of a new one: it runs locally while they are applied. */
async function testOldCode(old: Build, next: Build): Promise<void> {
  const [root, prebuiltWorkerDir] = [old.folder, join(old.folder, 'worker')];
  // The runtime is part of this process, and prints where the progress goes.
  Object.assign(process.env, { WRANGLER_LOG: 'error', CLOUDFLARE_CF_FETCH_ENABLED: 'false' });
  const configPath = join(root, 'wrangler.toml');
  const server = createTestHarness({ root, workers: [{ configPath, prebuiltWorkerDir }] });
  try {
    const { origin } = (await server.listen()).url;
    const worker = server.getWorker<Env>();
    const { API_KEYS } = await worker.getEnv();
    await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(LOCAL_KEY_RECORD));
    await worker.applyD1Migrations('DB');
    const store = { environment: 'local', baseUrl: `${origin}/v1`, apiKey: LOCAL_KEY };
    await smokeTest(store, 60, async () => {
      await cp(join(next.folder, 'migrations'), join(root, 'migrations'), { recursive: true });
      await worker.applyD1Migrations('DB');
    });
  } finally {
    await server.close();
  }
}
