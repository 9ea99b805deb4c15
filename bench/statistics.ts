/** An estimate, and its 95 % confidence interval. */
export type Estimate = { value: number; low: number; high: number };

/** The 97.5th percentile of Student's t distribution, from three degrees of freedom within 3 %. */
const quantile = (freedom: number) => 1.96 + 2.37 / freedom + 2.82 / freedom ** 2;

export function exact(value: number): Estimate {
  return { value, low: value, high: value };
}

/** The mean of all rounds. The median would hide slow rounds, such as those with a garbage collection. */
export function mean(values: number[]): Estimate {
  // The ratio to 1 in each round.
  return ratio(values, Array(values.length).fill(1));
}

/** The ratio of the means of two measurements of the same rounds. The interval is that of a ratio estimator. */
export function ratio(numerators: number[], denominators: number[]): Estimate {
  const rounds = numerators.length;
  const value = sum(numerators) / sum(denominators);
  const squares = numerators.map(
    (numerator, round) => (numerator - value * (denominators[round] ?? Number.NaN)) ** 2,
  );
  const standardError =
    Math.sqrt(sum(squares) / (rounds - 1) / rounds) / (sum(denominators) / rounds);
  const margin = quantile(rounds - 1) * standardError;
  return { value, low: value - margin, high: value + margin };
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** `12.3 (11.9–12.7)`: the value and its interval, in three or more significant digits. An exact value is alone. */
export function show({ value, low, high }: Estimate): string {
  if (low === high) return value.toLocaleString('en', { maximumFractionDigits: 1 });
  const digits = value < 10 ? 2 : value < 100 ? 1 : 0;
  const format = { minimumFractionDigits: digits, maximumFractionDigits: digits };
  const text = (number: number) => number.toLocaleString('en', format);
  return `${text(value)} (${text(low)}–${text(high)})`;
}
