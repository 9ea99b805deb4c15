import { expect, test } from 'vitest';
import { countWaits } from '../../bench/waits.ts';

test('every operation waits for D1 once, after KV when its key is not in memory', async () => {
  const { table } = await countWaits();
  const [, ...rows] = table;
  expect(rows).toHaveLength(9);
  for (const [operation, warm, , cold, unknownKey] of rows) {
    expect([warm, cold, unknownKey], operation).toEqual(['D1', 'KV + D1', 'KV']);
  }
});
