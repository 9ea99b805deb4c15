/** A measured value: the median of its rounds. Half of the rounds are from `low` to `high`. */
export type Estimate = { value: number; low: number; high: number };

export function median(values: number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { value: at(0.5), low: at(0.25), high: at(0.75) };
}

/** A value without a spread. */
export function exact(value: number): Estimate {
  return { value, low: value, high: value };
}

/** The ratio of two values that were measured in the same rounds, so both have as many. */
export function medianRatio(numerators: number[], denominators: number[]): Estimate {
  return median(numerators.map((numerator, round) => numerator / Number(denominators[round])));
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
