/**
 * `npm run bench`: measures the store against a bare worker, at several sizes, and writes bench/results.json,
 * BENCHMARKS.md and its charts. `--ten-million` adds a size. Exit code 1 when a bar is missed.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SingleBar } from 'cli-progress';
import { addPets } from './animals.ts';
import { barsOf } from './bars.ts';
import { build, type Server, serve } from './contenders.ts';
import { CPU_ROUNDS, measureCpu } from './cpu.ts';
import { type Rounds, race, warmUp } from './load.ts';
import { describeMachine } from './machine.ts';
import { kvReads } from './meter.ts';
import { type Race, raceOfSizes, racesOf } from './races.ts';
import { writeReport } from './report.ts';
import type { Results } from './results.ts';
import { plans, type Size, serveSize } from './scale.ts';
import { weigh } from './weight.ts';

const SIZES = [1_000, 100_000, 1_000_000, ...(wantsTenMillion() ? [10_000_000] : [])];
/** Animals of the store and of the baseline in the races between them. */
const PETS = 10_000;

const bar = new SingleBar({
  format: '{bar} {value} of {total}  {stage}',
  // Where there is no terminal, a line now and then.
  noTTYOutput: true,
  notTTYSchedule: 15_000,
});
const stage = (stage: string, steps: number) => {
  bar.stop();
  bar.start(steps, 0, { stage });
};

const [store, baseline] = await Promise.all([build(), build('bench/baseline/index.ts')]);
try {
  const { sizes, plans, races: sizeRaces } = await measureSizes();
  const races = { ...(await measureRaces()), ...sizeRaces };
  stage('The store by itself', CPU_ROUNDS);
  const cpu = await measureCpu(() => bar.increment());
  const weight = await weigh(store);
  const kvReadsPerThousand = await measureKvReads();
  const machine = await describeMachine();
  const date = new Date().toISOString();
  const results = { date, machine, races, sizes, plans, kvReadsPerThousand, weight, cpu };
  bar.stop();
  await writeFile(
    join(import.meta.dirname, 'results.json'),
    `${JSON.stringify(results, null, 2)}\n`,
  );
  await writeReport(results);
  for (const { figure, value, reached } of barsOf(results)) {
    console.log(`${reached ? 'reached' : 'MISSED '} ${value.toFixed(2).padStart(6)}  ${figure}`);
  }
  if (!barsOf(results).every(({ reached }) => reached)) process.exitCode = 1;
} finally {
  bar.stop();
  await store.remove();
  await baseline.remove();
}

function wantsTenMillion(): boolean {
  try {
    const { values } = parseArgs({ options: { 'ten-million': { type: 'boolean' } } });
    return values['ten-million'] ?? false;
  } catch {
    console.error('usage: npm run bench [-- --ten-million]');
    process.exit(2);
  }
}

/** The store against the baseline. */
async function measureRaces(): Promise<Record<string, Rounds>> {
  const servers = {
    store: await serve(store),
    baseline: await serve(baseline),
    bare: await serve(baseline, { assets: false }),
  };
  await addPets(servers.store.env.DB, PETS);
  await addPets(servers.baseline.env.DB, PETS);
  const races = await run(racesOf(servers, PETS));
  await close(Object.values(servers));
  return races;
}

/** The store with few animals and with many. */
async function measureSizes(): Promise<Pick<Results, 'sizes' | 'plans' | 'races'>> {
  const served: { server: Server; size: Size }[] = [];
  for (const pets of SIZES) {
    stage('Adding animals', pets);
    served.push(await serveSize(store, pets, (added) => bar.increment(added)));
  }
  const sizes = served.map(({ size }) => size);
  const races = await run([raceOfSizes(served.map(({ server, size }) => ({ server, ...size })))]);
  const largest = served.at(-1);
  const all: Results['plans'] = {};
  for (const [name, usage] of Object.entries(largest?.size.usage ?? {})) {
    if (largest) all[name] = await plans(largest.server.env, usage);
  }
  await close(served.map(({ server }) => server));
  return { sizes, plans: all, races };
}

async function run(races: Race[]): Promise<Record<string, Rounds>> {
  const contenders = races.flatMap((race) => race.contenders);
  stage('Warming up', contenders.length);
  await warmUp(contenders, () => bar.increment());
  const figures: Record<string, Rounds> = {};
  for (const { title, contenders, rounds } of races) {
    stage(title, contenders.length * rounds);
    figures[title] = await race(contenders, rounds, () => bar.increment());
  }
  return figures;
}

async function measureKvReads(): Promise<number> {
  const server = await serve(store);
  const reads = await kvReads(server.env, 1_000, { path: '/v1/pets?limit=1' });
  await server.close();
  return reads;
}

async function close(servers: Server[]): Promise<void> {
  for (const server of servers) await server.close();
}
