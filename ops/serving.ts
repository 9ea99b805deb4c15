/**
 * A lock that lets only one process serve the local store: two runtimes on the same files would find databases locked.
 * The lock is a SQLite transaction on a file outside the folder that it protects, so that deleting this folder does not
 * release it. The operating system releases it when the process ends, even if it is killed.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PROJECT_ROOT } from './wrangler.ts';

const FILE = join(PROJECT_ROOT, '.serving.sqlite');

/** https://sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;

/**
 * Reserves the local store for this process until it ends. `npm run reset` reserves it without a port.
 *
 * @returns the port of the process that already serves the store, or `undefined`.
 * @throws Error when the store is being reset, or when the file cannot be opened.
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
    const served = codeOf(error) === SQLITE_BUSY ? portOf(file) : undefined;
    file.close();
    if (served === undefined) throw error;
    if (served === 0) throw new Error('it is being reset. Try again.');
    return served;
  }
}

/** Opens the file. Replaces a damaged file: no process can hold its lock. */
function open(): DatabaseSync {
  const file = new DatabaseSync(FILE, { timeout: 1_000 });
  try {
    portOf(file);
    return file;
  } catch (error) {
    // Windows cannot delete an open file.
    file.close();
    if (![SQLITE_CORRUPT, SQLITE_NOTADB].includes(codeOf(error))) throw error;
    rmSync(FILE);
    return new DatabaseSync(FILE, { timeout: 1_000 });
  }
}

function portOf(file: DatabaseSync): number {
  return Number(file.prepare('PRAGMA user_version').get()?.user_version);
}

/** The result code of an error of SQLite; `NaN` for another error. */
function codeOf(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : Number.NaN;
}
