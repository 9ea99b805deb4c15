import { cpus } from 'node:os';
import workerd from 'workerd/package.json' with { type: 'json' };

/** Where and when the figures are measured. */
export const MACHINE = `${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim()}, ${cpus().length} cores; Node.js ${process.versions.node}, workerd ${workerd.version}`;

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

/** A Markdown table. All columns but the first are aligned right. */
export function table(head: string[], rows: string[][]): string {
  const alignment = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
