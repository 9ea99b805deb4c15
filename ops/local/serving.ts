/**
 * A lock that lets only one process serve the local store: two runtimes on the same files would find databases locked.
 * It is a SQLite transaction, which the operating system ends with the process, even if that is killed.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PROJECT_ROOT } from '../wrangler.ts';

/** Outside the folder of the store, so that deleting that folder does not release the lock. */
const FILE = join(PROJECT_ROOT, '.serving.sqlite');

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
      if (!String(error).includes('database is locked')) throw error;
    }
    const served = Number(file.prepare('PRAGMA user_version').get()?.user_version);
    if (served !== 0) return served;
  } catch (cause) {
    throw new Error(`${cause instanceof Error ? cause.message : cause}: delete ${FILE}`, { cause });
  }
  throw new Error('the local store is being reset: try again');
}
