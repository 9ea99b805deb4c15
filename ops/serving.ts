/**
 * A lock that lets only one process serve the local store: two runtimes on the same files would find databases locked.
 * The lock is a SQLite transaction on a separate file. The operating system releases it when the process ends, even if
 * it is killed.
 */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { LOCAL_FOLDER, localStoreError } from './wrangler.ts';

const FILE = join(LOCAL_FOLDER, 'serving.sqlite');

/** https://sqlite.org/rescode.html#busy */
const SQLITE_BUSY = 5;

/**
 * Reserves the local store for this process until it ends.
 *
 * @returns the port of the process that already serves the store, or `undefined`.
 * @throws Error when the folder is damaged.
 */
export function reserveStore(port = 0): number | undefined {
  const file = open();
  try {
    // The port is committed first, so that others can read it while the second transaction holds the lock.
    file.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${port}; COMMIT; BEGIN IMMEDIATE`);
    // The reference also prevents garbage collection, which would close the file.
    process.once('exit', () => file.close());
    return undefined;
  } catch (error) {
    if (!isBusy(error)) throw localStoreError(error);
    return portOf(file);
  }
}

function open(): DatabaseSync {
  try {
    mkdirSync(dirname(FILE), { recursive: true });
    return new DatabaseSync(FILE, { timeout: 1_000 });
  } catch (error) {
    throw localStoreError(error);
  }
}

/** The port on which another process serves the local store, or `undefined`. */
export function servedPort(): number | undefined {
  if (!existsSync(FILE)) return undefined;
  const file = new DatabaseSync(FILE);
  try {
    file.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (isBusy(error)) return portOf(file);
    // The file is damaged, so no process can serve the store.
  } finally {
    file.close();
  }
  return undefined;
}

function portOf(file: DatabaseSync): number {
  return Number(file.prepare('PRAGMA user_version').get()?.user_version);
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY;
}
