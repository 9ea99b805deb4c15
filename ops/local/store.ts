/** The store on a developer's machine: what `npm start` serves, kept in .wrangler/state. */
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
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

/** Outside the folder of the store, so that deleting that folder does not release the lock. */
const LOCK = join(PROJECT_ROOT, '.serving.sqlite');

/** The path of workerd, the Workers runtime. */
const workerd: string = createRequire(import.meta.url)('workerd').default;
/**
 * The same file, by a path through this folder: `…/ops/local/../../node_modules/…`. Lists of processes show the path, so
 * `endRuntimes` finds the runtimes of this clone's `npm start` alone, not those of tests, or of clones that link the same packages.
 */
export const RUNTIME = `${import.meta.dirname}/${relative(import.meta.dirname, workerd)}`;

/**
 * Reserves the store until this process ends: two servers on the same files would find databases locked. The lock is a
 * SQLite transaction, which the operating system ends with the process, even if that is killed. Also ends the runtimes of a killed
 * `npm start`.
 *
 * @throws Error with the fix if another process has reserved the store.
 */
export function reserveStore(): void {
  const lock = new DatabaseSync(LOCK);
  try {
    lock.exec('BEGIN EXCLUSIVE');
  } catch (cause) {
    throw new Error('the store of this folder is running: stop it (Ctrl-C), or use another clone', {
      cause,
    });
  }
  // The listener also keeps `lock` from garbage collection, which would close the file.
  process.once('exit', () => lock.close());
  endRuntimes();
}

/**
 * Ends, by pkill, each runtime that a killed `npm start` has left: it would keep the port and the files. On Windows, a runtime ends with its
 * `npm start`.
 */
function endRuntimes(): void {
  const pattern = RUNTIME.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
  // In the locale C, pkill would read `?` in place of each other letter than those of ASCII.
  const env = { ...process.env, LC_ALL: 'C.UTF-8' };
  // Repeats until pkill finds none (status 1), because a runtime frees its port only a moment after the signal.
  while (spawnSync('pkill', ['-KILL', '-f', `^${pattern}`], { env }).status === 0);
}

/** Applies the migrations and writes the record of the local key. Keeps all data. */
export async function setUpLocalStore(): Promise<void> {
  // Not in parallel: two runtimes that create the same files at once can fail with SQLITE_BUSY.
  console.log('Setting up the local store: applying the migrations …');
  await runWranglerIn('local', ['d1', 'migrations', 'apply', 'DB', '--local']);
  console.log('Setting up the local store: writing its API key …');
  await writeRecord('local', await recordName(LOCAL_KEY), LOCAL_KEY_RECORD);
}
