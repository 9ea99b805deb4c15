/** Builds workers as they would be deployed, and serves each in a runtime of its own. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import {
  unstable_getMiniflareWorkerOptions as getWorkerOptions,
  unstable_readConfig as readConfig,
} from 'wrangler';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { runWranglerIn } from '../ops/command/wrangler.ts';
import { LOCAL_KEY, LOCAL_KEY_RECORD } from '../ops/local/store.ts';
import { INSERTION } from '../ops/seed.ts';
import { recordName } from '../src/auth/key-record.ts';
import { IS_TRIAL } from './statistics.ts';

// A sample of `request.cf` would need the network.
process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false';

const [WARM_UP_ROUNDS, ROUNDS] = IS_TRIAL ? [0, 1] : [6, 8];

/** The store with stub bindings. Every commit that is compared builds its own. */
export const STUBBED = 'bench/workers/stubbed.ts';

/** What the benchmarks compare, as it would be deployed. */
export const WORKERS = {
  'this worker': 'src/index.ts',
  'plain Hono': 'bench/workers/plain-hono.ts',
  'zod-openapi, Drizzle': 'bench/workers/zod-openapi.ts',
};

/** A worker that accepts the local key. `pids` are the processes of its runtime. */
export type Server = {
  port: number;
  env: Env;
  worker: Awaited<ReturnType<Miniflare['getWorker']>>;
  pids: string[];
};

/** Serves built workers, each with its own animals, while `measure` runs. */
export async function withServers<T>(
  bundles: string[],
  pets: number,
  measure: (...servers: Server[]) => Promise<T>,
): Promise<T> {
  const runtimes: Miniflare[] = [];
  const servers: Server[] = [];
  try {
    for (const bundle of bundles) {
      const others = workerdPids();
      const runtime = start(bundle);
      runtimes.push(runtime);
      const port = Number((await runtime.unsafeGetDirectURL()).port);
      const env = await runtime.getBindings<Env>();
      const worker = await runtime.getWorker();
      const pids = workerdPids().filter((pid) => !others.includes(pid));
      servers.push({ port, env, worker, pids });
      await fill(env, pets);
    }
    return await measure(...servers);
  } finally {
    for (const runtime of runtimes) await runtime.dispose();
  }
}

/**
 * In each round, measures one server after the other: other work on the machine affects all
 * equally. Returns the values of each.
 */
export async function inRounds<T>(
  servers: Server[],
  measure: (server: Server) => Promise<T>,
): Promise<T[][]> {
  const values = servers.map((): T[] => []);
  for (let round = 0; round < WARM_UP_ROUNDS + ROUNDS; round += 1) {
    for (const [index, server] of servers.entries()) values[index]?.push(await measure(server));
  }
  return values.map((each) => each.slice(WARM_UP_ROUNDS));
}

/** Builds a worker of a checkout with the configuration of its store; returns the bundle's file. */
export async function build(entry: string, project = PROJECT_ROOT): Promise<string> {
  const name = basename(entry, '.ts');
  const folder = join(project, '.wrangler/bench', name);
  await runWranglerIn('local', ['deploy', entry, '--dry-run', '--outdir', folder], {
    cwd: project,
  });
  return join(folder, `${name}.js`);
}

/** Builds workers one after another: each build packs the client. */
export async function buildAll(entries: string[]): Promise<string[]> {
  const bundles: string[] = [];
  for (const entry of entries) bundles.push(await build(entry));
  return bundles;
}

/** Starts workerd with a bundle, with nothing between the client and the worker. */
function start(bundle: string): Miniflare {
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml') });
  // As in a deployed worker.
  config.vars.LOG = 'all';
  const { assets, modulesRules, ...options } = getWorkerOptions(config).workerOptions;
  return new Miniflare(
    convertV4MiniflareOptions({
      ...options,
      modules: true,
      modulesRoot: dirname(bundle),
      scriptPath: bundle,
      unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
      cf: false,
      handleStructuredLogs() {},
    }),
  );
}

async function fill({ DB, API_KEYS }: Env, pets: number): Promise<void> {
  const schema = readFileSync(join(PROJECT_ROOT, 'schema.sql'), 'utf8');
  // D1 takes each line for a statement.
  await DB.exec(schema.replaceAll(/--.*$/gm, '').replaceAll('\n', ' '));
  if (pets > 0) await DB.prepare(INSERTION).bind(pets).run();
  await API_KEYS.put(await recordName(LOCAL_KEY), JSON.stringify(LOCAL_KEY_RECORD));
}

/** The ids of the processes of workerd that this process has started. */
function workerdPids(): string[] {
  const children = ['-P', String(process.pid), 'workerd'];
  const { stdout } = spawnSync('pgrep', children, { encoding: 'utf8' });
  // Without pgrep, only the rows can be measured, which need no ids.
  return stdout?.split('\n').filter(Boolean) ?? [];
}

/**
 * CPU time of processes, in microseconds. Ended threads of workerd are left out: it keeps its own.
 */
export function cpuUs(pids: string[]): number {
  let ns = 0;
  for (const pid of pids)
    for (const thread of readdirSync(`/proc/${pid}/task`))
      ns += Number.parseInt(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8'), 10);
  return ns / 1000;
}
