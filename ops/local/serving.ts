/**
 * A lock that lets only one process serve the local store: two runtimes on the same files would find databases locked.
 * The lock is a SQLite transaction on a file outside the folder that it protects, so that deleting this folder does not
 * release it. The operating system releases it when the process ends, even if it is killed.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PROJECT_ROOT } from '../wrangler.ts';

const FILE = join(PROJECT_ROOT, '.serving.sqlite');

/** https://sqlite.org/rescode.html */
const SQLITE_BUSY = 5;

/**
 * Reserves the local store for this process until it ends. `npm run reset` reserves it without a port.
 *
 * @returns the port of the process that already serves the store, or `undefined`.
 * @throws Error when the store is being reset, or when the file cannot be used.
 */
export function reserveStore(port = 0): number | undefined {
  try {
    const file = new DatabaseSync(FILE, { timeout: 1_000 });
    try {
      // The port is committed first, so that others can read it while the second transaction holds the lock.
      file.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${port}; COMMIT; BEGIN IMMEDIATE`);
      // The reference also prevents garbage collection, which would close the file.
      process.once('exit', () => file.close());
      return undefined;
    } catch (error) {
      if (!(error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY))
        throw error;
    }
    const served = Number(file.prepare('PRAGMA user_version').get()?.user_version);
    if (served !== 0) return served;
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : cause}: delete ${FILE}`, { cause });
  }
  throw new Error('the local store is being reset: try again');
}
