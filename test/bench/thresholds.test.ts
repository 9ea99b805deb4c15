import { expect, test } from 'vitest';
import { outcomeOf } from '../../bench/results.ts';
import { exact } from '../../bench/statistics.ts';

const estimate = { value: 0.95, low: 0.9, high: 1 };

test.each([
  [{ min: 0.9 }, 'met'],
  [{ min: 0.91 }, 'undecided'],
  [{ min: 1 }, 'undecided'],
  [{ min: 1.01 }, 'missed'],
  [{ max: 1 }, 'met'],
  [{ max: 0.99 }, 'undecided'],
  [{ max: 0.89 }, 'missed'],
])('an interval from 0.9 to 1, with threshold %j: %s', (bounds, outcome) => {
  expect(outcomeOf({ name: 'ratio', estimate, ...bounds })).toBe(outcome);
});

test('a figure that could not be measured misses its threshold', () => {
  expect(outcomeOf({ name: 'KiB', max: 30, estimate: exact(Number.NaN) })).toBe('missed');
});
