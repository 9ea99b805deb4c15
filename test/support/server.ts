/** The server of a test process: the worker in workerd with real D1 and KV. */
import { globSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import type { Faults } from '../faults/worker.ts';

/**
 * With `faults`, the app has bindings that fail on demand, and high limits: see faults/worker.ts. Only then it can have the
 * variables of another environment.
 */
export type ServerOptions = { faults?: false; env?: 'local' } | { faults: true; env?: Environment };

/** The environment of wrangler.toml whose variables the app has: staging over https; local, the default, over http. */
type Environment = 'local' | 'staging';

export type Server = Awaited<ReturnType<typeof startServer>>;

declare global {
  var sharedServer: Promise<Server> | undefined;
}

/** The name of the worker with faults. */
const FAULTS = 'animal-store-faults';
const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
/** Not the folder of the project, in which wrangler would read the variables of a developer, `.dev.vars` or `.env`. */
const ROOT = join(PROJECT_ROOT, '.wrangler/test');

/** Requests per ten seconds that a rate limiter allows, if the fault `limited` selects it. */
export const SMALL_LIMIT = 5;

/**
 * The server of this process, with both workers. Test files share it, also those that import this module anew; environment.ts
 * closes it.
 */
export function serverOfProcess() {
  globalThis.sharedServer ??= startServer();
  return globalThis.sharedServer;
}

async function startServer() {
  // Otherwise, the server would keep a vitest process alive after its parent was killed.
  process.once('disconnect', () => process.exit());
  const workers = [{ config: readWorker() }, withFaults()];
  mkdirSync(ROOT, { recursive: true });
  const harness = createTestHarness({ root: ROOT, workers });
  const { url } = await harness.listen();
  const plain = harness.getWorker<Env>();
  await plain.applyD1Migrations('DB');
  return {
    harness,
    url,
    /** The unmodified worker, and the one with faults. They have the same database and keys. */
    workers: { plain, faults: harness.getWorker<Env>(FAULTS) },
    bindings: await plain.getEnv(),
    /** Whether the database may hold rows. */
    isDirty: true,
  };
}

/** The variables of an environment. */
export function readVars(env: string): Faults['vars'] {
  return readConfig({ config: CONFIG, env: env === 'local' ? '' : env }).vars;
}

/** The worker of the project, with absolute paths, and without the build step, which would set up the developer's own store. */
function readWorker() {
  const { d1_databases, ...config } = readConfig({ config: CONFIG });
  const migrations_dir = join(PROJECT_ROOT, 'migrations');
  return {
    ...config,
    build: {},
    assets: { ...config.assets, directory: join(PROJECT_ROOT, 'public') },
    d1_databases: d1_databases.map((database: object) => ({ ...database, migrations_dir })),
  };
}

function withFaults() {
  const config = readWorker();
  // A database without tables, for the fault `unmigrated`.
  const unmigrated = { binding: 'EMPTY_DB', database_name: 'empty', database_id: 'empty' };
  const small = {
    name: 'SMALL_RATE_LIMITER',
    namespace_id: '1',
    simple: { limit: SMALL_LIMIT, period: 10 as const },
  };
  return {
    config: {
      ...config,
      name: FAULTS,
      main: join(PROJECT_ROOT, 'test/faults/worker.ts'),
      d1_databases: [...config.d1_databases, unmigrated],
      ratelimits: [...config.ratelimits, small],
    },
  };
}

/** The names of the tables. */
export const TABLES = globSync(join(PROJECT_ROOT, 'migrations/*.sql'))
  .sort()
  .flatMap((file) => readFileSync(file, 'utf8').match(/(?<=^CREATE TABLE )\w+/gm) ?? []);

/** The statements that empty the tables, and reset their ids. */
export const EMPTY_TABLES = ['sqlite_sequence', ...TABLES]
  .map((table) => `DELETE FROM ${table}`)
  .join('; ');
