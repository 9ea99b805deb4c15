/** The workers that are measured: each built as it would be deployed, in a runtime of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { LOCAL_KEY } from '../ops/local-store.ts';
import { PROJECT_ROOT, runWrangler } from '../ops/wrangler.ts';
import { recordName } from '../src/keys/record.ts';
import { KEY_RECORD } from './baseline/key-record.ts';

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';
// What wrangler says of redirects and headers at each start would be printed into the progress bar.
process.env.WRANGLER_LOG ??= 'warn';

const CONFIG = 'wrangler.toml';

/** A built worker: a folder with index.js and meta.json, esbuild's account of what is in it. */
export type Build = { folder: string; remove(): Promise<void> };

export type Server = {
  origin: string;
  env: Env;
  /** Forgets the log lines that the harness collects. */
  clearLogs(): void;
  close(): Promise<void>;
};

/** Builds the store, or with the same configuration the worker whose entry is at `entry`. */
export async function build(entry = 'src/index.ts'): Promise<Build> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const output = ['--outdir', folder, '--metafile', join(folder, 'meta.json')];
  await runWrangler(['deploy', entry, '--dry-run', '--config', CONFIG, '--env', '', ...output]);
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** Serves a build with an empty database and one API key, as wrangler.toml says; or without its assets. */
export async function serve({ folder }: Build, { assets = true } = {}): Promise<Server> {
  const input = { configPath: CONFIG, prebuiltWorkerDir: folder };
  const server = createTestHarness({
    root: PROJECT_ROOT,
    workers: [assets ? input : { config: withoutAssets(folder) }],
  });
  const { url } = await server.listen();
  const worker = server.getWorker<Env>();
  await worker.applyD1Migrations('DB');
  const env = await worker.getEnv();
  const record = { id: 'bench', label: 'bench', createdAt: '2026-11-20T00:00:00.000Z' };
  for (const name of [await recordName(LOCAL_KEY), KEY_RECORD]) {
    await env.API_KEYS.put(name, JSON.stringify(record));
  }
  return {
    origin: url.origin,
    env,
    clearLogs: () => server.clearLogs(),
    close: () => server.close(),
  };
}

function withoutAssets(folder: string) {
  const config = readConfig({ config: join(PROJECT_ROOT, CONFIG) });
  const { name, compatibility_date, vars, d1_databases, kv_namespaces, ratelimits } = config;
  const bindings = { vars, d1_databases, kv_namespaces, ratelimits };
  return { name, compatibility_date, ...bindings, main: join(folder, 'index.js'), no_bundle: true };
}
