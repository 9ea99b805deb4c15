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
 * Reserves the local store until this process ends, to serve it at the port, or without a port to reset it.
 *
 * @throws Error with the fix when another process has reserved it.
 */
export function reserveStore(port = 0): void {
  const file = new DatabaseSync(FILE, { timeout: 1_000 });
  try {
    // The port is committed first, so that others can read it while the second transaction holds the lock.
    file.exec(`BEGIN IMMEDIATE; PRAGMA user_version = ${port}; COMMIT; BEGIN IMMEDIATE`);
  } catch (cause) {
    if (!String(cause).includes('database is locked'))
      throw new Error(`${FILE} is damaged: delete it`, { cause });
    const served = file.prepare('PRAGMA user_version').get()?.user_version;
    if (!served) throw new Error('the local store is being reset: try again', { cause });
    const address = `http://localhost:${served}/docs`;
    const message = `the store is running at ${address}: stop it (Ctrl-C), or use another clone`;
    throw new Error(message, { cause });
  }
  // The reference also prevents garbage collection, which would close the file.
  process.once('exit', () => file.close());
}
