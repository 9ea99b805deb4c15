import { expect, test } from 'vitest';
import { outcomeOf } from '../../bench/results.ts';
import { exact } from '../../bench/statistics.ts';

const estimate = { value: 0.95, low: 0.9, high: 1 };

test.each([
  [1, 'met'],
  [0.99, 'undecided'],
  [0.9, 'undecided'],
  [0.89, 'missed'],
])('an interval from 0.9 to 1, with the threshold ≤ %d: %s', (max, outcome) => {
  expect(outcomeOf({ name: 'ratio', estimate, max })).toBe(outcome);
});

test('a figure that could not be measured misses its threshold', () => {
  expect(outcomeOf({ name: 'KiB', max: 30, estimate: exact(Number.NaN) })).toBe('missed');
});
