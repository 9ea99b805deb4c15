/** The contenders: the store as it ships, and the baseline with the store's own bindings and assets. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { LOCAL_KEY } from '../ops/local-store.ts';
import { PROJECT_ROOT, runWrangler } from '../ops/wrangler.ts';
import { recordName } from '../src/keys/record.ts';

export type Contender = {
  origin: string;
  env: Env;
  /** Forgets what the worker logged: kept lines would fill our memory. */
  clearLogs(): void;
  close(): Promise<void>;
};

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';

/** Builds what would be deployed, and calls `use` with the folder that it is in. */
export async function withBuild<T>(
  use: (folder: string) => Promise<T>,
  options: string[] = [],
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  try {
    await runWrangler(['deploy', '--dry-run', '--env', '', '--outdir', folder, ...options]);
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Starts the store from a build, empty, with the local key known. */
export function startStore(build: string): Promise<Contender> {
  return start({ configPath: 'wrangler.toml', prebuiltWorkerDir: build });
}

/** Starts the baseline: wrangler.toml but for the entry. */
export function startBaseline(): Promise<Contender> {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml') });
  const {
    name,
    compatibility_date,
    vars,
    d1_databases,
    kv_namespaces,
    ratelimits,
    version_metadata,
  } = config;
  return start({
    config: {
      ...{
        name,
        compatibility_date,
        vars,
        d1_databases,
        kv_namespaces,
        ratelimits,
        version_metadata,
      },
      main: 'bench/baseline.ts',
      minify: true,
      assets: { directory: 'public' },
    },
  });
}

type Worker = Parameters<typeof createTestHarness>[0] extends { workers: (infer W)[] } | undefined
  ? W
  : never;

async function start(worker: Worker): Promise<Contender> {
  const server = createTestHarness({ root: PROJECT_ROOT, workers: [worker] });
  const { url } = await server.listen();
  await server.getWorker<Env>().applyD1Migrations('DB');
  const env = await server.getWorker<Env>().getEnv();
  const record = { id: 'bench', label: 'bench', createdAt: '2026-11-20T00:00:00.000Z' };
  for (const name of [await recordName(LOCAL_KEY), 'bench']) {
    await env.API_KEYS.put(name, JSON.stringify(record));
  }
  return { origin: url.origin, env, clearLogs: server.clearLogs, close: server.close };
}
