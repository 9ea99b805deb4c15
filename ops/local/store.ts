/** The store on a developer's machine, kept in .wrangler/state. */
import { hash } from 'node:crypto';
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { type KeyRecord, recordName } from '../../src/auth/key-record.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import { runWranglerIn } from '../command/wrangler.ts';
import { writeRecord } from '../keys/records.ts';

/**
 * Accepted by every local store, so that pasted examples work. It is public, and invalid in other
 * environments.
 */
export const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

export const LOCAL_KEY_RECORD: KeyRecord = {
  id: 'local',
  label: 'The fixed key of local development',
  createdAt: '2026-11-20T00:00:00.000Z',
};

/** The files of the store. */
const STATE = join(PROJECT_ROOT, '.wrangler/state');

/** The files of D1. Their place is internal to miniflare: a new version may change it. */
export const DATABASES = join(STATE, 'v3/d1/miniflare-D1DatabaseObject');

/**
 * Has the hash of each migration that is applied. Written last, so that an interrupted set-up
 * begins again.
 */
const STAMP = join(STATE, 'set-up.json');

/** Whether a process has opened the store. Each runtime keeps this database open. */
export function isInUse(): boolean {
  const path = join(DATABASES, 'metadata.sqlite');
  if (!existsSync(path)) return false;
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
    return false;
  } catch (error) {
    // Not if the file is damaged.
    return String(error).includes('database is locked');
  } finally {
    database.close();
  }
}

/**
 * Applies the pending migrations and writes the record of the local key, unless the store is in
 * use. Keeps all data.
 */
export async function setUpLocalStore(): Promise<void> {
  const hashes = hashMigrations();
  const applied: typeof hashes = existsSync(STAMP) ? JSON.parse(readFileSync(STAMP, 'utf8')) : {};
  const names = Object.keys(hashes).sort();
  const changed = names.filter((name) => applied[name] && applied[name] !== hashes[name]);
  if (changed.length > 0) console.error(`${changed} changed: npm run reset empties the store`);
  const pending = names.filter((name) => !applied[name]);
  if (pending.length === 0) return;
  // A running server builds again at each change, and a migration may be half written. While it
  // reloads, it closes the store for a moment.
  if (existsSync(STAMP)) await pause(2_000);
  if (isInUse()) return console.error(`Press Ctrl-C, and npm start applies ${pending}`);
  console.log('Setting up the local store …');
  // Not in parallel: two runtimes that create the same files at once can fail with SQLITE_BUSY.
  await runWranglerIn('local', ['d1', 'migrations', 'apply', 'DB', '--local']);
  await writeRecord('local', await recordName(LOCAL_KEY), LOCAL_KEY_RECORD);
  writeFileSync(STAMP, JSON.stringify({ ...hashes, ...applied }));
}

/** The hash of each migration, by its name. */
function hashMigrations(): Partial<Record<string, string>> {
  const folder = join(PROJECT_ROOT, 'migrations');
  const names = globSync('*.sql', { cwd: folder });
  const hashes = names.map((name) => [name, hash('sha256', readFileSync(join(folder, name)))]);
  return Object.fromEntries(hashes);
}
