import { expect, test } from 'vitest';
import { isReached } from '../../bench/report.ts';

test('a value equal to its bar reaches it', () => {
  expect(isReached({ figure: 'ratio', least: 0.9, value: 0.9 })).toBe(true);
  expect(isReached({ figure: 'KiB', most: 34, value: 34 })).toBe(true);
});

test('a value beyond its bar does not reach it', () => {
  expect(isReached({ figure: 'ratio', least: 0.9, value: 0.89 })).toBe(false);
  expect(isReached({ figure: 'KiB', most: 34, value: 34.1 })).toBe(false);
});

test('a figure that could not be measured does not reach its bar', () => {
  expect(isReached({ figure: 'ratio', least: 0.9, value: Number.NaN })).toBe(false);
  expect(isReached({ figure: 'KiB', most: 34, value: Number.NaN })).toBe(false);
});
