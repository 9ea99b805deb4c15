/** The store on a developer's machine: what `npm start` serves, kept in .wrangler/state. */
import { join } from 'node:path';
import { type KeyRecord, recordName } from '../src/keys/record.ts';
import { putKey } from './key-namespace.ts';
import { resumeWrites } from './stopped-writes.ts';
import { PROJECT_ROOT, runIn } from './wrangler.ts';

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
  // One after the other, because two runtimes that create the same files concurrently fail.
  await runIn('local', ['d1', 'migrations', 'apply', 'DB']);
  await putLocalKey();
}

/** Empties the local store while it is served. Only the local key is left. */
export async function emptyServedStore(): Promise<void> {
  await setUpLocalStore();
  await withLocalStore(async ({ DB, API_KEYS }) => {
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

async function putLocalKey(): Promise<void> {
  await putKey('local', { name: await recordName(LOCAL_KEY), record: LOCAL_KEY_RECORD });
}

/** Opens the local store's bindings, even while it is served. */
export async function withLocalStore(use: (env: Env) => Promise<void>): Promise<void> {
  // Imported only here, because loading wrangler would delay the error for invalid arguments.
  const { getPlatformProxy } = await import('wrangler');
  const { env, dispose } = await getPlatformProxy<Env>({
    configPath: join(PROJECT_ROOT, 'wrangler.toml'),
    persist: { path: join(PROJECT_ROOT, '.wrangler/state/v3') },
  });
  try {
    await use(env);
  } finally {
    await dispose();
  }
}
