import { expect, test } from 'vitest';
import { ratio, summarize } from '../../bench/statistics.ts';

test('the median and the quartiles do not depend on the order, and are interpolated', () => {
  expect(summarize([5, 1, 4, 2, 3])).toEqual({ median: 3, low: 2, high: 4 });
  expect(summarize([10, 40, 20, 30])).toEqual({ median: 25, low: 17.5, high: 32.5 });
  expect(summarize([7])).toEqual({ median: 7, low: 7, high: 7 });
});

test('a ratio is computed for each round, so that a slow round does not change it', () => {
  expect(ratio([100, 10, 50], [50, 5, 25])).toEqual({ median: 2, low: 2, high: 2 });
});
