import { expect, test } from 'vitest';
import { isMet } from '../../bench/report.ts';

test('a threshold is met by a value equal to it', () => {
  expect(isMet({ figure: 'ratio', min: 0.9, value: 0.9 })).toBe(true);
  expect(isMet({ figure: 'KiB', max: 34, value: 34 })).toBe(true);
});

test('a threshold is not met by a value beyond it', () => {
  expect(isMet({ figure: 'ratio', min: 0.9, value: 0.89 })).toBe(false);
  expect(isMet({ figure: 'KiB', max: 34, value: 34.1 })).toBe(false);
});

test('a threshold is not met by a figure that could not be measured', () => {
  expect(isMet({ figure: 'ratio', min: 0.9, value: Number.NaN })).toBe(false);
  expect(isMet({ figure: 'KiB', max: 34, value: Number.NaN })).toBe(false);
});
