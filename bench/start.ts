/** The CPU time in which a fresh process of workerd loads a worker and answers a first request. On Linux only. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { send } from './race.ts';
import { build, cpuUs, STUBBED } from './servers.ts';
import { median, show, table } from './statistics.ts';

const ROUNDS = 61;

/** The program's file. Not its bin, a script of Node.js that starts it. */
const WORKERD: string = createRequire(import.meta.url)('workerd').default;

/** Returns a table of the scripts as they are deployed. */
export async function measureSize(): Promise<string> {
  const rows: string[][] = [];
  for (const entry of ['src/index.ts', 'bench/workers/plain-hono.ts'])
    rows.push([entry, `${gzipSync(readFileSync(await build(entry))).length}`]);
  return table(['script', 'bytes, gzipped'], rows);
}

/** Starts the store with stub bindings, and an empty worker. Returns a table. */
export async function measureStart(): Promise<string> {
  const rows: string[][] = [];
  for (const entry of [STUBBED, 'bench/workers/empty.ts']) {
    const config = configure(await build(entry));
    const times: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) times.push(await start(config));
    rows.push([entry, show(median(times))]);
  }
  return table(['start and first request', 'CPU µs'], rows);
}

/** Writes workerd's configuration for a bundle beside it, with the compatibility date of the store; returns its file. */
function configure(bundle: string): string {
  const { compatibility_date: date = '' } = readConfig({
    config: join(PROJECT_ROOT, 'wrangler.toml'),
  });
  const template = readFileSync(join(import.meta.dirname, 'workers/isolate.capnp'), 'utf8');
  const config = template.replace('{bundle}', basename(bundle)).replace('{date}', date);
  writeFileSync(`${bundle}.capnp`, config);
  return `${bundle}.capnp`;
}

/** Starts workerd with a configuration, and sends it one request. Returns its CPU time in microseconds. */
async function start(config: string): Promise<number> {
  const child = spawn(WORKERD, ['serve', '--control-fd=1', config], { stdio: 'pipe' });
  try {
    // The first line on standard output names the port.
    const [event] = await once(child.stdout, 'data');
    await send(JSON.parse(event).port, { path: '/v1/pets?limit=20' }, 1);
    return cpuUs([String(child.pid)]);
  } finally {
    child.kill('SIGKILL');
  }
}
