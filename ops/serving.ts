/**
 * Which process serves the local store of this folder. One at a time: two runtimes on the same files meet locked
 * databases. SQLite locks a file of its own for that, and the operating system releases the lock when the process
 * ends, even if it was killed.
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
 * @returns `undefined`, or the port of the process that serves the store already.
 * @throws Error when the folder is damaged.
 */
export function reserveStore(port = 0): number | undefined {
  const file = open();
  try {
    // Committed first, so that others can read the port while the second transaction keeps the lock.
    file.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${port}; COMMIT; BEGIN IMMEDIATE`);
    // Also keeps the file from being collected, and so closed, before.
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

/** The port at which another process serves the local store, or `undefined` when none does. */
export function servedPort(): number | undefined {
  if (!existsSync(FILE)) return undefined;
  const file = new DatabaseSync(FILE);
  try {
    file.exec('BEGIN IMMEDIATE');
  } catch (error) {
    if (isBusy(error)) return portOf(file);
    // Damaged: nothing can be served from this folder.
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
