/** What was measured: bench/results.json, from which BENCHMARKS.md is written. Each part replaces its own section. */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import type { Summary } from './statistics.ts';

/** What the store must reach: at least `least`, at most `most`. */
export type Bar = {
  figure: string;
  least?: number;
  most?: number;
  value: number;
  spread?: Summary;
};

export type Rows = { read: number; written: number };

export type Section = {
  bars: Bar[];
  /** Head and rows of its table in BENCHMARKS.md. */
  table: string[][];
  /** Rows that D1 bills, by request. */
  rows?: Record<string, Rows>;
};

type Run = {
  /** ISO 8601. */
  date: string;
  /** Load average of the minute before: other work on the machine. */
  load: number;
  machine: string;
};

export type Results = Record<string, Section & Run>;

const FILE = join(import.meta.dirname, 'results.json');
const require = createRequire(import.meta.url);

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(FILE, 'utf8'));
}

export async function writeResults(results: Results): Promise<void> {
  await writeFile(FILE, `${JSON.stringify(results, null, 2)}\n`);
}

export function isReached({ value, least = -Infinity, most = Infinity }: Bar): boolean {
  return value >= least && value <= most;
}

export function describeRun(): Run {
  const processor = `${cpus()[0]?.model.trim()}, ${availableParallelism()} cores`;
  const memory = `${Math.round(totalmem() / 1024 ** 3)} GiB`;
  const { version }: { version: string } = require('workerd/package.json');
  const software = `Node.js ${process.versions.node}, workerd ${version}`;
  return {
    date: new Date().toISOString(),
    load: loadavg()[0] ?? 0,
    machine: `${processor}, ${memory}, ${type()} ${release()}; ${software}`,
  };
}
