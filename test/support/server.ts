/** The servers of a test process: a worker in workerd, with a database and keys of its own. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import type { Faults } from '../faults/worker.ts';

/**
 * Not the folder of the project, in which wrangler would read the variables of a developer,
 * `.dev.vars` or `.env`.
 */
const ROOT = join(PROJECT_ROOT, '.wrangler/test');
const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');

/** The worker as it is deployed, and the one with bindings that fail on demand. */
export type Main = 'src/index.ts' | 'test/faults/app.ts';

export type Server = Awaited<ReturnType<typeof startServer>>;

declare global {
  var sharedServers: { [main in Main]?: Promise<Server> } | undefined;
}

/**
 * The server of this process with this worker, started by the first test file that needs it. All
 * test files share it, although `vi.resetModules` makes some of them load a second instance of this
 * module. environment.ts closes it.
 */
export function serverOfProcess(main: Main): Promise<Server> {
  globalThis.sharedServers ??= {};
  globalThis.sharedServers[main] ??= startServer(main);
  return globalThis.sharedServers[main];
}

async function startServer(main: Main) {
  // Otherwise, the server would keep a vitest process alive after its parent was killed.
  process.once('disconnect', () => process.exit());
  mkdirSync(ROOT, { recursive: true });
  const harness = createTestHarness({ root: ROOT, workers: [{ config: readWorker(main) }] });
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

/**
 * The worker of the project, with absolute paths, and without the build step, which would set up
 * the developer's own store.
 */
function readWorker(main: Main) {
  const { d1_databases, ...config } = readConfig({ config: CONFIG });
  const migrations_dir = join(PROJECT_ROOT, 'migrations');
  return {
    ...config,
    main: join(PROJECT_ROOT, main),
    build: {},
    vars: readVars('local'),
    assets: { ...config.assets, directory: join(PROJECT_ROOT, 'public') },
    d1_databases: d1_databases.map((database: object) => ({ ...database, migrations_dir })),
  };
}

/** The variables of an environment. The local log has all lines, too. */
export function readVars(env: string): Faults['vars'] {
  return { ...readConfig({ config: CONFIG, env: env === 'local' ? '' : env }).vars, LOG: 'all' };
}

/** The names of the tables that the migrations have created, and that of their last ids. */
async function readTables(db: D1Database) {
  const { results } = await db
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all<{ name: string }>();
  return results.map(({ name }) => name).filter((name) => !/^(_cf|d1)_/.test(name));
}
