/** The servers of a test process: a worker in workerd, with a database and keys of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHarness } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import { readWorker, withFaults } from './configuration.ts';

/** Not the folder of the project, in which wrangler would read the variables of a developer, `.dev.vars` or `.env`. */
const ROOT = join(PROJECT_ROOT, '.wrangler/test');

/** The worker as it is deployed, and the one with bindings that fail on demand (faults/worker.ts). */
const WORKERS = { plain: readWorker, faults: withFaults };

type WorkerName = keyof typeof WORKERS;

export type Server = Awaited<ReturnType<typeof startServer>>;

declare global {
  var sharedServers: { [Name in WorkerName]?: Promise<Server> } | undefined;
}

/**
 * The server of this process with this worker, started by the first test file that needs it. All test files share it, although
 * `vi.resetModules` makes some of them load a second instance of this module. environment.ts closes it.
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
    const emptying = ['sqlite_sequence', ...tables].map((table) => `DELETE FROM ${table}`);
    let mayHaveRows = true;
    const used = <Value>(value: Value) => {
      mayHaveRows = true;
      return value;
    };
    return {
      close: () => harness.close(),
      logs: () => harness.getLogs(),
      clearLogs: () => harness.clearLogs(),
      origin: url.origin,
      tables,
      keys: bindings.API_KEYS,
      bindings: () => used(bindings),
      /** For requests without `fetch`. */
      url: () => used(url.origin),
      scheduled: (...options: Parameters<typeof worker.scheduled>) =>
        used(worker).scheduled(...options),
      fetch: (address: string, init?: Parameters<typeof worker.fetch>[1]) =>
        (init?.method === 'GET' ? worker : used(worker)).fetch(address, init),

      /** Empties the tables, and resets their ids, which takes a fifth of the time of the tests that only read. */
      async emptyTables() {
        if (mayHaveRows) await bindings.DB.exec(emptying.join('; '));
        mayHaveRows = false;
      },
    };
  } catch (error) {
    // Otherwise, its runtime would keep this process alive.
    await harness.close();
    throw error;
  }
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
