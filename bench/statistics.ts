/** An estimate, and its 95 % confidence interval. */
export type Estimate = { value: number; low: number; high: number };

/** The 97.5th percentile of the normal distribution. */
const Z = 1.96;

/**
 * The mean of all rounds. The median would leave out what happens in few rounds, such as a full garbage collection.
 */
export function mean(values: number[]): Estimate {
  return ratio(
    values,
    values.map(() => 1),
  );
}

/** The ratio of the means of two measurements that share their rounds. The error is that of a ratio estimator. */
export function ratio(values: number[], others: number[]): Estimate {
  const value = sum(values) / sum(others);
  const squares = values.map((each, round) => (each - value * (others[round] ?? Number.NaN)) ** 2);
  const rounds = values.length;
  const error = Math.sqrt(sum(squares) / (rounds - 1) / rounds) / (sum(others) / rounds);
  return { value, low: value - Z * error, high: value + Z * error };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** `12.3 (11.9–12.7)`: the value, and its confidence interval. */
export function show({ value, low, high }: Estimate, digits = 0): string {
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = (number: number) => number.toLocaleString('en', format);
  return `${text(value)} (${text(low)}–${text(high)})`;
}
