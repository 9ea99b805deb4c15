/** Builds workers as they would be deployed, and serves each in a runtime of its own. */
import { createHash } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';
import {
  unstable_getMiniflareWorkerOptions as getWorkerOptions,
  unstable_splitSqlQuery as splitSql,
} from 'wrangler';
import { addPets } from '../ops/local/sample-data.ts';
import { PROJECT_ROOT, runWrangler } from '../ops/wrangler.ts';
import { KEY } from './calls.ts';
import { workerdPids } from './processes.ts';

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED ??= 'false';
process.env.WRANGLER_LOG ??= 'warn';

const CONFIG = join(PROJECT_ROOT, 'wrangler.toml');
const BUNDLES = join(PROJECT_ROOT, 'node_modules/.cache/bench');

type Started = { port: number; env: Env; close(): Promise<void> };

/** A worker that accepts `KEY`. `pids` are the processes of its runtime. */
export type Server = Started & { pids: number[] };

/** Serves the bundle in `file` in workerd, with nothing between the client and the worker. */
async function serve(file: string): Promise<Started> {
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
}

/** A worker to build from a file, and how many animals its store has. */
export type Worker = { entry: string; pets?: number };

/** A built worker: the file of its bundle. */
export type Built = { file: string; pets?: number };

/** Serves workers, each with its animals, while `measure` runs. */
export async function withServers<T>(
  workers: Built[],
  measure: (servers: Server[]) => Promise<T>,
): Promise<T> {
  const servers: Server[] = [];
  try {
    for (const { file, pets = 0 } of workers) {
      const others = workerdPids();
      const server = await serve(file);
      servers.push({ ...server, pids: workerdPids().filter((pid) => !others.includes(pid)) });
      await fill(server.env, pets);
    }
    return await measure(servers);
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

async function fill({ DB, API_KEYS }: Env, pets: number): Promise<void> {
  const statements = splitSql(await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8'));
  await DB.batch(statements.map((sql) => DB.prepare(sql)));
  await addPets(DB, pets);
  const record = { id: 'bench', label: 'bench', createdAt: '2026-11-20T00:00:00.000Z' };
  const hash = createHash('sha256').update(KEY).digest('hex');
  for (const name of [hash, 'bare']) await API_KEYS.put(`key:${name}`, JSON.stringify(record));
}
