/** The servers of a test process: a worker in workerd, with a database and keys of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import type { Faults } from '../faults/worker.ts';

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
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
    return {
      harness,
      origin: url.origin,
      tables,
      keys: bindings.API_KEYS,
      scheduled: worker.scheduled,

      /** Sends a request to the worker. */
      fetch(address: string, init?: Parameters<typeof worker.fetch>[1]) {
        if (init?.method !== 'GET') mayHaveRows = true;
        return worker.fetch(address, init);
      },

      /** The origin, for requests without `fetch`. */
      url() {
        mayHaveRows = true;
        return url.origin;
      },

      bindings() {
        mayHaveRows = true;
        return bindings;
      },

      /** Empties the tables, and resets their ids. Does nothing if nothing can have written since the last call, which saves time. */
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

/** The variables of an environment. The local log has all lines, too. */
export function readVars(env: string): Faults['vars'] {
  return { ...readConfig({ config: CONFIG, env: env === 'local' ? '' : env }).vars, LOG: 'all' };
}

/** The worker of the project, with absolute paths, and without the build step, which would set up the developer's own store. */
function readWorker() {
  const { d1_databases, ...config } = readConfig({ config: CONFIG });
  const migrations_dir = join(PROJECT_ROOT, 'migrations');
  return {
    ...config,
    build: {},
    vars: readVars('local'),
    assets: { ...config.assets, directory: join(PROJECT_ROOT, 'public') },
    d1_databases: d1_databases.map((database: object) => ({ ...database, migrations_dir })),
  };
}

function withFaults() {
  return { ...readWorker(), main: join(PROJECT_ROOT, 'test/faults/app.ts') };
}
