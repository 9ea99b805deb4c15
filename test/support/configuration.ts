/** The configuration of the workers under test: that of the project, with absolute paths. */
import { join } from 'node:path';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/command/project-root.ts';
import type { Faults } from '../faults/worker.ts';

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');

/** The variables of an environment. The local log has all lines, too. */
export function readVars(env: string): Faults['vars'] {
  return { ...readConfig({ config: CONFIG, env: env === 'local' ? '' : env }).vars, LOG: 'all' };
}

/**
 * The worker of the project, with absolute paths, and without the build step, which would set up
 * the developer's own store.
 */
export function readWorker() {
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

export function withFaults() {
  return { ...readWorker(), main: join(PROJECT_ROOT, 'test/faults/app.ts') };
}
