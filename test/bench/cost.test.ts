import { expect, test } from 'vitest';
import { costOf, costOfFlood } from '../../bench/cost.ts';

test('a million requests cost their requests, log lines, KV reads and rows', () => {
  // $0.30 + $0.2733 + $0.0005, 21 rows read at $0.001 and 3 rows written at $1.
  expect(costOf({ read: 21, written: 3 })).toBeCloseTo(3.5948, 4);
});

test('a day of 1,000 rejected requests a second costs requests, lines and KV reads', () => {
  expect(costOfFlood({ kvReads: 0, logLines: 1 })).toBeCloseTo(49.536, 4);
  expect(costOfFlood({ kvReads: 1, logLines: 0.01 })).toBeCloseTo(69.3562, 4);
});
