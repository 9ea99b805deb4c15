/** Half of the measurements lie between `low` and `high`, the quartiles. */
export type Summary = { median: number; low: number; high: number };

/** Median and quartiles, interpolated between neighbours. */
export function summarize(values: number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const quantile = (share: number) => {
    const position = (sorted.length - 1) * share;
    const below = sorted[Math.floor(position)] ?? Number.NaN;
    const above = sorted[Math.ceil(position)] ?? Number.NaN;
    return below + (above - below) * (position - Math.floor(position));
  };
  return { median: quantile(0.5), low: quantile(0.25), high: quantile(0.75) };
}

/** The ratio of each round, summarized: other load on the machine affects both measurements of a round. */
export function ratio(values: number[], others: number[]): Summary {
  return summarize(values.map((value, round) => value / (others[round] ?? Number.NaN)));
}

/** `12.3 (11.9–12.5)`: the median, and the quartiles. */
export function show({ median, low, high }: Summary, digits = 0): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = (value: number) => value.toLocaleString('en', format);
  return `${text(median)} (${text(low)}–${text(high)})`;
}
