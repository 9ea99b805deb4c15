import { expect, test } from 'vitest';
import { exact, mean, ratio, show } from '../../bench/statistics.ts';

test('the mean includes a rare event, and its interval shows it', () => {
  expect(mean([40, 40, 40, 40])).toEqual({ value: 40, low: 40, high: 40 });
  const { value, low, high } = mean([40, 40, 40, 40, 140]);
  expect(value).toBe(60);
  // Standard deviation √2000, of five rounds: standard error 20. Student's t of four degrees of freedom: 2.78.
  expect(low).toBeCloseTo(60 - 20 * 2.78, -1);
  expect(high).toBeCloseTo(60 + 20 * 2.78, -1);
});

test('load that slows both measurements of a round does not widen the interval of their ratio', () => {
  expect(ratio([100, 10, 50], [50, 5, 25])).toEqual({ value: 2, low: 2, high: 2 });
});

test('a ratio is the ratio of the means, not the mean of the ratios', () => {
  // The mean of the ratios would be 2.5. Residuals 24 and -24: standard error √115.2, divided by the mean 25.
  const { value, low, high } = ratio([40, 40, 40, 40, 40, 40], [10, 40, 10, 40, 10, 40]);
  expect(value).toBe(1.6);
  // Student's t of five degrees of freedom.
  expect(low).toBeCloseTo(1.6 - 2.57 * 0.4293, 1);
  expect(high).toBeCloseTo(1.6 + 2.57 * 0.4293, 1);
});

test('an estimate is shown with its interval, an exact value alone', () => {
  expect(show({ value: 1234.56, low: 1200, high: 1300 })).toBe('1,235 (1,200–1,300)');
  expect(show({ value: 0.919, low: 0.9, high: 0.94 })).toBe('0.92 (0.90–0.94)');
  expect(show(exact(26.404))).toBe('26.4');
});
