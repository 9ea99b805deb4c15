/** Size of the bundle, and CPU time of a fresh isolate in workerd, beside a bare Hono app. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { unstable_readConfig as readConfig } from 'wrangler';
import { MAX_BUNDLE_KIB } from '../ops/check-bundle.ts';
import { PROJECT_ROOT } from '../ops/command/project-root.ts';
import { OPERATIONS } from './calls.ts';
import { STUBBED } from './comparisons.ts';
import { send } from './load.ts';
import { cpuMs } from './processes.ts';
import type { Section } from './results.ts';
import { build } from './servers.ts';
import { exact, median } from './statistics.ts';

const ROUNDS = 61;

/** The program's file. Not its bin, a script of Node.js that starts it. */
const WORKERD: string = createRequire(import.meta.url)('workerd').default;

/** CPU times of a process, in microseconds: until it has loaded a worker, and until it has answered a first request. */
type Isolate = { loaded: number; answered: number };

export async function measureStartUp(): Promise<Section> {
  const configs = {
    ours: configure(await build(STUBBED)),
    theirs: configure(await build('bench/workers/hono.ts')),
    nothing: configure(await build('bench/workers/empty.ts')),
  };
  const rounds: Record<keyof typeof configs, Isolate>[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    rounds.push({
      ours: await start(configs.ours),
      theirs: await start(configs.theirs),
      nothing: await start(configs.nothing),
    });
  }
  const cpuOf = (worker: 'ours' | 'theirs', until: keyof Isolate) =>
    median(rounds.map((round) => round[worker][until] - round.nothing[until]));
  const compare = (until: keyof Isolate) => {
    const store = cpuOf('ours', until);
    const baseline = cpuOf('theirs', until);
    // Not the median of the rounds' ratios: the spread of a process is as large as the start of a bare app.
    return { estimate: exact(store.value / baseline.value), store, baseline };
  };
  const kib = gzipSync(readFileSync(await build('src/index.ts'))).length / 1024;
  return {
    figures: [
      { name: 'start', max: 8, ...compare('loaded') },
      { name: 'start and first request', max: 6, ...compare('answered') },
      { name: 'bundle, KiB gzip', max: MAX_BUNDLE_KIB, estimate: exact(kib) },
    ],
  };
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

/** Starts workerd with a configuration, and sends it one request. */
async function start(config: string): Promise<Isolate> {
  const child = spawn(WORKERD, ['serve', '--control-fd=1', config], { stdio: 'pipe' });
  try {
    // The first line on standard output names the port.
    const [event] = await once(child.stdout, 'data');
    const pids = [String(child.pid)];
    const loaded = cpuMs(pids) * 1000;
    await send(JSON.parse(event).port, OPERATIONS.listPets, 1);
    return { loaded, answered: cpuMs(pids) * 1000 };
  } finally {
    child.kill('SIGKILL');
  }
}
