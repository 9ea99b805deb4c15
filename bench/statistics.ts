import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import workerd from 'workerd/package.json' with { type: 'json' };
import { PROJECT_ROOT } from '../ops/command/project-root.ts';

/** Where and when the figures are measured. */
export const MACHINE = `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores; Node.js ${process.versions.node}, workerd ${workerd.version}`;

/** The slow test measures next to nothing: it only proves that each command works. */
export const IS_TRIAL = process.env.BENCH === 'trial';

/** A measured value: the median of its rounds. Half of the rounds are from `low` to `high`. */
export type Estimate = { value: number; low: number; high: number };

export function median(values: number[]): Estimate {
  const at = (share: number) => quantile(values, share);
  return { value: at(0.5), low: at(0.25), high: at(0.75) };
}

/** The value that this share of the values is below. */
export function quantile(values: number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(share * values.length)] ?? Number.NaN;
}

/** `12.3 (11.9–12.7)`: the value and its spread, with at most three significant digits. */
export function show({ value, low, high }: Estimate): string {
  return `${format(value)} (${format(low)}–${format(high)})`;
}

export const format = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');

/** A Markdown table. */
export function table(head: string[], rows: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => Number(cells[column]?.length))),
  );
  const lines = [head, widths.map((width) => '-'.repeat(width)), ...rows].map((cells) =>
    cells.map((text, column) => text.padEnd(Number(widths[column]))).join(' | '),
  );
  return lines.map((line) => `| ${line} |`).join('\n');
}

/** Writes a result into the documents, from `<!-- name -->` to `<!-- /name -->`. */
export function writeResult(name: string, result: string): void {
  const block = new RegExp(`(?<=<!-- ${name} -->\n\n)[^]*(?=\n\n<!-- /${name} -->)`);
  for (const document of ['README.md', 'BENCHMARKS.md']) {
    const path = join(PROJECT_ROOT, document);
    const text = readFileSync(path, 'utf8').replace(block, () => result);
    writeFileSync(path, text);
  }
}
