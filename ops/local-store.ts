/** The store on a developer's machine: what `npm start` serves, kept in .wrangler/state. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KeyRecord, recordName } from '../src/auth/keys/record.ts';
import { migrationNames } from './migrations.ts';
import { resumeWrites } from './stopped-writes.ts';
import { localStoreError, PROJECT_ROOT, WRANGLER_ENV } from './wrangler.ts';

/**
 * The key that every local store accepts, so that pasted examples work. It is public: its prefix makes it invalid in
 * every other environment.
 */
export const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

export const LOCAL_KEY_RECORD: KeyRecord = {
  id: 'local',
  label: 'The fixed key of local development',
  createdAt: '2026-11-20T00:00:00.000Z',
};

/** Applies the migrations and writes the local key. Keeps all data. */
export async function setUpLocalStore(): Promise<void> {
  try {
    await withLocalStore(setUp);
  } catch (error) {
    throw localStoreError(error);
  }
}

/** As `wrangler d1 migrations apply` and `wrangler kv key put` do, each of which would start a runtime. */
async function setUp({ DB, API_KEYS }: Env): Promise<void> {
  await DB.prepare(
    `CREATE TABLE IF NOT EXISTS d1_migrations (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
       applied_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL)`,
  ).run();
  const { results } = await DB.prepare('SELECT name FROM d1_migrations').all<{ name: string }>();
  const applied = new Set(results.map(({ name }) => name));
  const { unstable_splitSqlQuery: splitSqlQuery } = await import('wrangler');
  for (const name of await migrationNames(PROJECT_ROOT)) {
    if (applied.has(name)) continue;
    const sql = await readFile(join(PROJECT_ROOT, 'migrations', name), 'utf8');
    await DB.batch([
      ...splitSqlQuery(sql).map((statement) => DB.prepare(statement)),
      DB.prepare('INSERT INTO d1_migrations (name) VALUES (?)').bind(name),
    ]);
  }
  const record = JSON.stringify(LOCAL_KEY_RECORD);
  await API_KEYS.put(await recordName(LOCAL_KEY), record, { metadata: LOCAL_KEY_RECORD });
}

/** Empties the local store while it is served. Only the local key is left. */
export async function emptyServedStore(): Promise<void> {
  await withLocalStore(async (env) => {
    await setUp(env);
    const { DB, API_KEYS } = env;
    const select = async (sql: string) =>
      (await DB.prepare(sql).all<{ name: string }>()).results.map(({ name }) => name);
    await resumeWrites(select);
    const tables = await select(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'd1_migrations'
         AND name NOT LIKE '\\_cf\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    );
    await DB.batch([
      ...tables.map((name) => DB.prepare(`DELETE FROM ${name}`)),
      DB.prepare(`DELETE FROM sqlite_sequence WHERE name <> 'd1_migrations'`),
    ]);
    // KV lists at most 1,000 names, so repeat until only the local key is left.
    const fixed = await recordName(LOCAL_KEY);
    for (let others = ['']; others.length > 0; ) {
      const { keys } = await API_KEYS.list();
      others = keys.map(({ name }) => name).filter((name) => name !== fixed);
      for (const name of others) await API_KEYS.delete(name);
    }
  });
}

/** Opens the local store's bindings, even while it is served. */
export async function withLocalStore(use: (env: Env) => Promise<void>): Promise<void> {
  // A sample of `request.cf` would need the network.
  Object.assign(process.env, WRANGLER_ENV);
  // Imported only here, because loading wrangler would delay the error for invalid arguments.
  const { getPlatformProxy } = await import('wrangler');
  const { env, dispose } = await getPlatformProxy<Env>({
    configPath: join(PROJECT_ROOT, 'wrangler.toml'),
    // The top level of wrangler.toml, even if a .env file sets CLOUDFLARE_ENV.
    environment: '',
    persist: { path: join(PROJECT_ROOT, '.wrangler/state/v3') },
  });
  try {
    await use(env);
  } finally {
    await dispose();
  }
}
