import { expect, test } from 'vitest';
import { costOfMillion, total } from '../../bench/cost.ts';

test('a million requests, item by item', () => {
  const bill = costOfMillion({ cpuMs: 0.5, kvRead: 0.001, rowRead: 21, rowWritten: 3 });
  const expected = { request: 0.3, cpuMs: 0.01, kvRead: 0.0005, rowRead: 0.021, rowWritten: 3 };
  for (const [item, dollars] of Object.entries(expected)) {
    expect(bill).toHaveProperty(item, expect.closeTo(dollars, 10));
  }
  expect(total(bill)).toBeCloseTo(3.3315, 10);
});
