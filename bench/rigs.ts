/** The workers that are measured, each built as it would be deployed, in a runtime of its own. */
import { mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import {
  createTestHarness,
  unstable_getMiniflareWorkerOptions as getWorkerOptions,
  unstable_splitSqlQuery as splitSql,
} from 'wrangler';
import { LOCAL_KEY } from '../ops/local-store.ts';
import { PROJECT_ROOT, runWrangler } from '../ops/wrangler.ts';
import { recordName } from '../src/keys/record.ts';
import { cpuMs, runtimes } from './runtime.ts';

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';
process.env.WRANGLER_LOG ??= 'warn';

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
const MIGRATIONS = join(PROJECT_ROOT, 'migrations');

/** A runtime that serves a bundle, with empty tables but the local key. */
export type Server = {
  port: number;
  env: Env;
  /** CPU time of its processes so far, in ms. */
  cpuMs(): number;
};

type Started = { port: number; env: Env; close(): Promise<void> };

/** Starts a bundle, given its file. */
export type Rig = (file: string) => Promise<Started>;

/** As `npm start` serves it: wrangler's harness, with the router of the static assets and the log collected. */
export const fullRig: Rig = async (file) => {
  const workers = [{ configPath: CONFIG, prebuiltWorkerDir: dirname(file) }];
  const server = createTestHarness({ root: PROJECT_ROOT, workers });
  const port = Number((await server.listen()).url.port);
  const env = await server.getWorker<Env>().getEnv();
  return { port, env, close: () => server.close() };
};

/** workerd with the same bindings, and nothing between the client and the worker. */
export const quietRig: Rig = async (file) => {
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

/** Builds the workers at `entries` and serves them, while `measure` runs. */
export async function serving<T>(
  rig: Rig,
  entries: string[],
  measure: (...servers: Server[]) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
  const started: Started[] = [];
  const servers: Server[] = [];
  try {
    for (const [i, entry] of entries.entries()) {
      const file = await build(entry, join(folder, String(i)));
      const others = runtimes();
      const server = await rig(file);
      started.push(server);
      const own = runtimes().filter((pid) => !others.includes(pid));
      await fill(server.env);
      servers.push({ port: server.port, env: server.env, cpuMs: () => cpuMs(own) });
    }
    return await measure(...servers);
  } finally {
    for (const server of started) await server.close();
    await rm(folder, { recursive: true });
  }
}

/** Builds a worker with the configuration of the store; returns the bundle's file, which is `index.js`. */
export async function build(entry: string, folder: string): Promise<string> {
  const args = ['--dry-run', '--config', CONFIG, '--env', '', '--outdir', folder];
  await runWrangler(['deploy', entry, ...args]);
  const file = join(folder, 'index.js');
  await rename(join(folder, `${basename(entry, '.ts')}.js`), file);
  return file;
}

async function fill({ DB, API_KEYS }: Env): Promise<void> {
  for (const file of (await readdir(MIGRATIONS)).filter((each) => each.endsWith('.sql')).sort()) {
    const statements = splitSql(await readFile(join(MIGRATIONS, file), 'utf8'));
    await DB.batch(statements.map((sql) => DB.prepare(sql)));
  }
  const record = { id: 'bench', label: 'bench', createdAt: '2026-11-20T00:00:00.000Z' };
  for (const name of [await recordName(LOCAL_KEY), 'key:bare']) {
    await API_KEYS.put(name, JSON.stringify(record));
  }
}
