/** The store on a developer's machine, kept in .wrangler/state. */
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type KeyRecord, recordName } from '../../src/auth/key-record.ts';
import { PROJECT_ROOT } from '../command/project-root.ts';
import { runWranglerIn } from '../command/wrangler.ts';
import { writeRecord } from '../keys/records.ts';

/** Accepted by every local store, so that pasted examples work. It is public, and invalid in other environments. */
export const LOCAL_KEY = 'animal_local_ThisKeyOpensOnlyALocalStore0001k8qeP';

export const LOCAL_KEY_RECORD: KeyRecord = {
  id: 'local',
  label: 'The fixed key of local development',
  createdAt: '2026-11-20T00:00:00.000Z',
};

/** The files of the store. */
const STATE = join(PROJECT_ROOT, '.wrangler/state');

/** Has the names of the migrations that are applied. */
const DONE = join(STATE, 'set-up');

/** Whether a process has opened the store. Each runtime keeps this database open. */
export function isInUse(): boolean {
  const path = join(STATE, 'v3/d1/miniflare-D1DatabaseObject/metadata.sqlite');
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

/** Applies the pending migrations and writes the record of the local key. Keeps all data. */
export async function setUpLocalStore(): Promise<void> {
  const migrations = globSync('*.sql', { cwd: join(PROJECT_ROOT, 'migrations') })
    .sort()
    .join();
  if (existsSync(DONE) && readFileSync(DONE, 'utf8') === migrations) return;
  // Not in parallel: two runtimes that create the same files at once can fail with SQLITE_BUSY.
  console.log('Setting up the local store …');
  await runWranglerIn('local', ['d1', 'migrations', 'apply', 'DB', '--local']);
  await writeRecord('local', await recordName(LOCAL_KEY), LOCAL_KEY_RECORD);
  writeFileSync(DONE, migrations);
}
