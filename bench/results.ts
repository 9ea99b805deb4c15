/** What is measured, and bench/results.json, which keeps it. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, type } from 'node:os';
import { join } from 'node:path';
import workerd from 'workerd/package.json' with { type: 'json' };
import type { Estimate } from './statistics.ts';

/**
 * A measured figure. `max`: its threshold, inclusive. If it is the ratio of two CPU times per request, it has them as well,
 * in microseconds.
 */
export type Figure = {
  name: string;
  estimate: Estimate;
  max?: number;
  store?: Estimate;
  baseline?: Estimate;
};

/** Rows that D1 bills for a request. */
export type Rows = { read: number; written: number };

/** The measurements of a part. */
export type Section = { figures: Figure[]; rows?: Record<string, Rows> };

/** When and where a part was measured. `load` is the load average of the minute before. */
export type Run = { date: string; seconds: number; load: number; machine: string };

export type Results = Record<string, Section & Run>;

/** Compares the whole confidence interval with the threshold. A figure that could not be measured misses it. */
export function outcomeOf({ estimate: { low, high }, max = Infinity }: Figure) {
  if (high <= max) return 'met';
  return low <= max ? 'undecided' : 'missed';
}

const FILE = join(import.meta.dirname, 'results.json');

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** Measures a part, and replaces its section in bench/results.json. */
export async function record(part: string, measure: () => Promise<Section>): Promise<Section> {
  const [start, load] = [new Date(), loadavg()[0] ?? 0];
  const section = await measure();
  const seconds = (Date.now() - start.getTime()) / 1000;
  const hardware = `${cpus()[0]?.model.trim()}, ${cpus().length} cores, ${type()} ${release()}`;
  const machine = `${hardware}; Node.js ${process.versions.node}, workerd ${workerd.version}`;
  const run = { date: start.toISOString(), seconds, load, machine };
  const results = { ...(await readResults()), [part]: { ...run, ...section } };
  const rounded = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  const lines = Object.entries(results).map(([key, value]) =>
    [JSON.stringify(key), JSON.stringify(value, rounded)].join(':'),
  );
  await writeFile(FILE, `{\n${lines.join(',\n')}\n}\n`);
  return section;
}
