/** A measured value: the median of its rounds. Half of the rounds are from `low` to `high`. */
export type Estimate = { value: number; low: number; high: number };

export function median(values: number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { value: at(0.5), low: at(0.25), high: at(0.75) };
}

/** `12.3 (11.9–12.7)`: the value and its spread, with at most three significant digits. */
export function show({ value, low, high }: Estimate): string {
  return `${format(value)} (${format(low)}–${format(high)})`;
}

const format = (value: number) => Number(value.toPrecision(3)).toLocaleString('en');

/** A Markdown table. All columns but the first are aligned right. */
export function table(head: string[], rows: string[][]): string {
  const alignment = head.map((_, column) => (column === 0 ? '---' : '--:'));
  return [head, alignment, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
