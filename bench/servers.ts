/** Builds workers as they would be deployed, and serves each in a runtime of its own. */
import { readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import {
  createTestHarness,
  unstable_getMiniflareWorkerOptions as getWorkerOptions,
  unstable_splitSqlQuery as splitSql,
} from 'wrangler';
import { LOCAL_KEY } from '../ops/local/store.ts';
import { PROJECT_ROOT, runWrangler } from '../ops/wrangler.ts';
import { recordName } from '../src/auth/keys/record.ts';
import { workerdPids } from './processes.ts';

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';
process.env.WRANGLER_LOG ??= 'warn';

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
const BUNDLES = join(PROJECT_ROOT, 'node_modules/.cache/bench');

type Started = { port: number; env: Env; close(): Promise<void> };

/** A worker with empty tables and the local key. `pids` are the processes of its runtime. */
export type Server = Started & { pids: number[] };

/** Serves the bundle in `file`. */
export type Runtime = (file: string) => Promise<Started>;

/** wrangler's test harness. As with `npm start`, it routes static assets and collects the log. */
export const wranglerHarness: Runtime = async (file) => {
  const workers = [{ configPath: CONFIG, prebuiltWorkerDir: dirname(file) }];
  const server = createTestHarness({ root: PROJECT_ROOT, workers });
  const port = Number((await server.listen()).url.port);
  const env = await server.getWorker<Env>().getEnv();
  return { port, env, close: () => server.close() };
};

/** workerd with the same bindings, and nothing between the client and the worker. */
export const workerd: Runtime = async (file) => {
  const { assets, modulesRules, ...options } = getWorkerOptions(CONFIG).workerOptions;
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...options,
      ...{ modules: true, modulesRoot: dirname(file), scriptPath: file },
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      cf: false,
      log: new Log(LogLevel.ERROR),
      handleStructuredLogs() {},
    }),
  );
  const port = Number((await miniflare.unsafeGetDirectURL()).port);
  const env = await miniflare.getBindings<Env>();
  return { port, env, close: () => miniflare.dispose() };
};

/** Builds the workers at `entries` and serves them while `measure` runs. */
export async function withServers<T>(
  runtime: Runtime,
  entries: string[],
  measure: (...servers: Server[]) => Promise<T>,
): Promise<T> {
  const servers: Server[] = [];
  try {
    for (const entry of entries) {
      const others = workerdPids();
      const server = await runtime(await build(entry));
      servers.push({ ...server, pids: workerdPids().filter((pid) => !others.includes(pid)) });
      await fill(server.env);
    }
    return await measure(...servers);
  } finally {
    for (const server of servers) await server.close();
  }
}

/** Builds a worker with the configuration of the store; returns the bundle's file, which is `index.js`. */
export async function build(entry: string): Promise<string> {
  const name = basename(entry, '.ts');
  const folder = join(BUNDLES, name);
  await runWrangler(['deploy', entry, '--dry-run', '--env', '', '--outdir', folder]);
  const file = join(folder, 'index.js');
  await rename(join(folder, `${name}.js`), file);
  return file;
}

async function fill({ DB, API_KEYS }: Env): Promise<void> {
  const statements = splitSql(await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8'));
  await DB.batch(statements.map((sql) => DB.prepare(sql)));
  const record = { id: 'bench', label: 'bench', createdAt: '2026-11-20T00:00:00.000Z' };
  for (const name of [await recordName(LOCAL_KEY), 'key:bare']) {
    await API_KEYS.put(name, JSON.stringify(record));
  }
}
