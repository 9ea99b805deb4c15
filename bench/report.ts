/**
 * Keeps the measurements in bench/results.json, and writes BENCHMARKS.md: template.md with their tables. Run directly
 * (`npm run bench:report`), it writes BENCHMARKS.md without measuring.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { join } from 'node:path';
import workerd from 'workerd/package.json' with { type: 'json' };
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { costTables } from './cost.ts';
import { type Estimate, show } from './statistics.ts';

/** Both inclusive. */
export type Bounds = { min?: number; max?: number };

/** A figure that must be within its bounds. */
type Threshold = Bounds & { figure: string; value: number; estimate?: Estimate };

export type Rows = { read: number; written: number };

/** The measurements of a part. */
export type Section = {
  thresholds: Threshold[];
  /** Header and rows of its table in BENCHMARKS.md. */
  table: string[][];
  /** Rows that D1 bills, by request. */
  rows?: Record<string, Rows>;
};

/** When and where a part was measured. `load` is the load average of the minute before. */
type Run = { date: string; load: number; machine: string };

export type Results = Record<string, Section & Run>;

const FILE = join(import.meta.dirname, 'results.json');

export async function readResults(): Promise<Results> {
  return JSON.parse(await readFile(FILE, 'utf8'));
}

/** Replaces the section of a part. Call `describeRun` before measuring. */
export async function saveSection(part: string, section: Section & Run): Promise<void> {
  const results = { ...(await readResults()), [part]: section };
  await writeFile(FILE, `${JSON.stringify(results, null, 2)}\n`);
  await writePage(results);
}

export function isMet({ value, min = -Infinity, max = Infinity }: Threshold): boolean {
  return value >= min && value <= max;
}

export function describeRun(): Run {
  const processor = `${cpus()[0]?.model.trim()}, ${cpus().length} cores`;
  const system = `${Math.round(totalmem() / 1024 ** 3)} GiB, ${type()} ${release()}`;
  const software = `Node.js ${process.versions.node}, workerd ${workerd.version}`;
  const machine = `${processor}, ${system}; ${software}`;
  return { date: new Date().toISOString(), load: loadavg()[0] ?? 0, machine };
}

async function writePage(results: Results): Promise<void> {
  const runs = Object.entries(results).map(([part, { date, load, machine }]) => [
    ...[part, date.slice(0, 16).replace('T', ' '), load.toFixed(1), machine],
  ]);
  const tables: Record<string, string[][]> = {
    ...Object.fromEntries(Object.entries(results).map(([part, { table }]) => [part, table])),
    ...costTables(results),
    runs: [['part', 'measured (UTC)', 'load average', 'machine'], ...runs],
  };
  const template = await readFile(join(import.meta.dirname, 'template.md'), 'utf8');
  const page = template.replace(/^\{(\w+)\}$/gm, (_, name) =>
    name === 'thresholds' ? thresholdTable(results) : markdown(tables[name] ?? [['not measured']]),
  );
  await writeFile(join(PROJECT_ROOT, 'BENCHMARKS.md'), page);
}

/** The thresholds of some parts, as a Markdown table. */
export function thresholdTable(sections: Record<string, Section>): string {
  const rows = Object.entries(sections).flatMap(([part, section]) =>
    section.thresholds.map((threshold) => {
      const { figure, min, max, value, estimate } = threshold;
      const bound = min === undefined ? `≤ ${max}` : `≥ ${min}`;
      const measured = estimate ? show(estimate, 2) : String(Math.round(value * 100) / 100);
      return [part, figure, bound, measured, isMet(threshold) ? 'yes' : '**no**'];
    }),
  );
  return markdown([['part', 'figure', 'threshold', 'measured', 'met'], ...rows]);
}

/** A Markdown table. All columns but the first are aligned right. */
function markdown([head = [], ...rows]: string[][]): string {
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  const alignment = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [line(head), line(alignment), ...rows.map(line)].join('\n');
}

if (import.meta.main) await writePage(await readResults());
