/** The servers of a test process: a worker in workerd, with a database and keys of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHarness } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { readWorker, withFaults } from './configuration.ts';

/**
 * Not the folder of the project, in which wrangler would read the variables of a developer,
 * `.dev.vars` or `.env`.
 */
const ROOT = join(PROJECT_ROOT, '.wrangler/test');

/**
 * The worker as it is deployed, and the one with bindings that fail on demand (faults/worker.ts).
 */
const WORKERS = { plain: readWorker, faults: withFaults };

type WorkerName = keyof typeof WORKERS;

export type Server = Awaited<ReturnType<typeof startServer>>;

declare global {
  var sharedServers: { [Name in WorkerName]?: Promise<Server> } | undefined;
}

/**
 * The server of this process with this worker, started by the first test file that needs it. All
 * test files share it, although `vi.resetModules` makes some of them load a second instance of this
 * module. environment.ts closes it.
 */
export function serverOfProcess(name: WorkerName): Promise<Server> {
  globalThis.sharedServers ??= {};
  globalThis.sharedServers[name] ??= startServer(name);
  return globalThis.sharedServers[name];
}

async function startServer(name: WorkerName) {
  // Otherwise, the server would keep a vitest process alive after its parent was killed.
  process.once('disconnect', () => process.exit());
  mkdirSync(ROOT, { recursive: true });
  const harness = createTestHarness({ root: ROOT, workers: [{ config: WORKERS[name]() }] });
  try {
    const { url } = await harness.listen();
    const worker = harness.getWorker<Env>();
    await worker.applyD1Migrations('DB');
    const bindings = await worker.getEnv();
    const tables = await readTables(bindings.DB);
    return { harness, worker, bindings, tables, origin: url.origin };
  } catch (error) {
    // Otherwise, its runtime would keep this process alive.
    await harness.close();
    throw error;
  }
}

/** Empties the tables, and resets their ids. */
export async function emptyTables({ bindings, tables }: Server) {
  const statements = ['sqlite_sequence', ...tables].map((table) => `DELETE FROM ${table}`);
  await bindings.DB.exec(statements.join('; '));
}

/** The names of the tables that the migrations have created. */
async function readTables(db: D1Database) {
  const { results } = await db
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table'
        AND name NOT GLOB 'sqlite_*' AND name NOT GLOB '_cf_*' AND name <> 'd1_migrations'`,
    )
    .all<{ name: string }>();
  return results.map(({ name }) => name);
}
