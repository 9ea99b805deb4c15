/** The servers of a test process: the worker in workerd with real D1 and KV. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import type { Faults } from './faults/worker.ts';

/**
 * With `faults`, the app has bindings that fail on demand, and high limits: see faults/worker.ts. Only then it can have the
 * variables of another environment.
 */
export type ServerOptions = { faults?: false; env?: 'local' } | { faults: true; env?: Environment };

/** The environment of wrangler.toml whose variables the app has: staging over https; local, the default, over http. */
type Environment = 'local' | 'staging';

type WorkerInput = NonNullable<Parameters<typeof createTestHarness>[0]>['workers'][number];

export type Server = Awaited<ReturnType<typeof startServer>>;

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');

/** Requests per ten seconds that a rate limiter allows, if the fault `limited` selects it. */
export const SMALL_LIMIT = 5;

/** The servers of this process, with and without faults. Test files share them; environment.ts closes them. */
const servers = new Map<string, Promise<Server>>();
// environment.ts does not share the modules of the tests, but this global.
globalThis.sharedServers = servers;
// Otherwise, the servers would keep a vitest process alive after its parent was killed.
process.once('disconnect', () => process.exit());

/** The server with these options, started for the first test file that needs it. */
export function serverOf({ faults = false }: ServerOptions): Promise<Server> {
  const name = faults ? 'faults' : 'local';
  const server = servers.get(name) ?? startServer(faults ? withFaults() : { configPath: CONFIG });
  servers.set(name, server);
  return server;
}

async function startServer(input: WorkerInput) {
  const harness = createTestHarness({ root: PROJECT_ROOT, workers: [input] });
  const { url } = await harness.listen();
  const worker = harness.getWorker<Env>();
  await worker.applyD1Migrations('DB');
  return {
    harness,
    worker,
    url,
    bindings: await worker.getEnv(),
    /** Whether the database may hold rows. */
    isDirty: true,
  };
}

/** The variables of an environment. */
export function readVars(env: string): Faults['vars'] {
  return readConfig({ config: CONFIG, env: env === 'local' ? '' : env }).vars;
}

function withFaults(): WorkerInput {
  const config = readConfig({ config: CONFIG });
  const { name, compatibility_date, vars, kv_namespaces, version_metadata } = config;
  // A database without tables, for the fault `unmigrated`.
  const unmigrated = { binding: 'EMPTY_DB', database_name: 'empty', database_id: 'empty' };
  const small = {
    name: 'SMALL_RATE_LIMITER',
    namespace_id: '1',
    simple: { limit: SMALL_LIMIT, period: 10 as const },
  };
  return {
    config: {
      name,
      compatibility_date,
      vars,
      kv_namespaces,
      version_metadata,
      main: 'test/faults/worker.ts',
      d1_databases: [...config.d1_databases, unmigrated],
      ratelimits: [...config.ratelimits, small],
    },
  };
}

const schema = readFileSync(join(PROJECT_ROOT, 'schema.sql'), 'utf8');

/** The names of the tables. */
export const TABLES = Array.from(schema.matchAll(/^CREATE TABLE (\w+)/gm), ([, name = '']) => name);

/** The statements that empty the tables, and reset their ids. */
export const EMPTY_TABLES = ['sqlite_sequence', ...TABLES]
  .map((table) => `DELETE FROM ${table}`)
  .join('; ');
