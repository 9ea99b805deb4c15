import { expect, test } from 'vitest';
import { costOf, costsOfFlood } from '../../bench/cost.ts';

test('the cost of a million requests is their use at list prices', () => {
  const use = { request: 1, logLine: 1, kvRead: 0.001, rowRead: 21, rowWritten: 3 };
  expect(costOf(use)).toBeCloseTo(0.3 + 0.6 + 0.0005 + 0.021 + 3, 10);
});

test('the cost of a day of rejected requests is requests and log lines, and KV reads with unknown keys', () => {
  const floods = costsOfFlood();
  expect(floods['401 without a well-formed key, 404, 429']?.[0]).toBeCloseTo(86.4 * (0.3 + 0.6), 6);
  expect(floods['401 without a well-formed key, 404, 429']?.[1]).toBeCloseTo(
    86.4 * (0.3 + 0.006),
    6,
  );
  expect(floods['401 or 429, unknown keys']?.[0]).toBeCloseTo(86.4 * (0.3 + 0.6 + 0.5), 6);
});
