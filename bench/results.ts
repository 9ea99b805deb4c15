/** What is measured, and bench/results.json, which keeps it. */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import workerd from 'workerd/package.json' with { type: 'json' };
import type { Estimate } from './statistics.ts';

/** A measured figure, and the threshold `max`, inclusive. A ratio of two CPU times has these as well, in microseconds. */
export type Figure = {
  name: string;
  estimate: Estimate;
  max: number;
  store?: Estimate;
  baseline?: Estimate;
};

/** Rows that D1 bills for a request. */
export type Rows = { read: number; written: number };

/** The measurements of a part. */
export type Section = { figures?: Figure[]; rows?: Record<string, Rows> };

/** The measurements of each part, and when and where it was measured. */
export type Results = Record<string, Section & { date: string; seconds: number; machine: string }>;

const FILE = join(import.meta.dirname, 'results.json');

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** Measures a part and, if every figure is a number, replaces its section in bench/results.json. */
export async function record(part: string, measure: () => Promise<Section>): Promise<Section> {
  const start = Date.now();
  const section = await measure();
  // JSON has no NaN.
  if (section.figures?.some(({ estimate }) => Number.isNaN(estimate.value)))
    throw new Error(`${part} could not be measured`);
  const results = await readResults();
  results[part] = {
    date: new Date(start).toISOString(),
    seconds: (Date.now() - start) / 1000,
    machine: `${cpus()[0]?.model.trim()}, ${cpus().length} cores; Node.js ${process.versions.node}, workerd ${workerd.version}`,
    ...section,
  };
  await writeFile(FILE, `${JSON.stringify(results, null, 1)}\n`);
  return section;
}
