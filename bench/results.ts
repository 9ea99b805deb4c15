/** What is measured, and bench/results.json, which keeps it. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, type } from 'node:os';
import { join } from 'node:path';
import workerd from 'workerd/package.json' with { type: 'json' };
import type { Estimate } from './statistics.ts';

/** The threshold of a figure, inclusive. */
export type Bounds = { min?: number; max?: number };

/** CPU time per request in microseconds, and requests a second. */
export type Speed = { cpu: Estimate; perSecond: Estimate };

/** A measured figure. If it is the ratio of two speeds, it has them as well. */
export type Figure = Bounds & { name: string; estimate: Estimate; store?: Speed; baseline?: Speed };

/** Rows that D1 bills for a request. */
export type Rows = { read: number; written: number };

/** The measurements of a part. */
export type Section = { figures: Figure[]; rows?: Record<string, Rows> };

/** When and where a part was measured. `load` is the load average of the minute before. */
export type Run = { date: string; seconds: number; load: number; machine: string };

export type Results = Record<string, Section & Run>;

/** Compares the whole confidence interval with the threshold. A figure that could not be measured misses it. */
export function outcomeOf({ estimate, min = -Infinity, max = Infinity }: Figure) {
  const { low, high } = estimate;
  if (low >= min && high <= max) return 'met';
  if (low <= max && high >= min) return 'undecided';
  return 'missed';
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
