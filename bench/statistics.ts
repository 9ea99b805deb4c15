/** A measured value. Half of the rounds are from `low` to `high`. */
export type Estimate = { value: number; low: number; high: number; median?: number };

export function mean(values: number[]): Estimate {
  return { value: sum(values) / values.length, ...spread(values) };
}

/** The ratio of the totals, so that it includes rounds with a garbage collection, and the spread of the rounds' ratios. */
export function ratio(numerators: number[], denominators: number[]): Estimate {
  const ratios = numerators.map((numerator, round) => numerator / Number(denominators[round]));
  return { value: sum(numerators) / sum(denominators), ...spread(ratios) };
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

function spread(values: number[]): Omit<Estimate, 'value'> {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { low: at(0.25), median: at(0.5), high: at(0.75) };
}

/** `12.3 (11.9–12.7)`: the value and its spread, in three significant digits. An exact value is alone. */
export function show({ value, low, high }: Estimate): string {
  if (low === high) return format(value);
  return `${format(value)} (${format(low)}–${format(high)})`;
}

const { format } = new Intl.NumberFormat('en', {
  minimumSignificantDigits: 3,
  maximumSignificantDigits: 3,
});
