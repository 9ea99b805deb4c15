import { expect, test } from 'vitest';
import { measureWaits } from '../../bench/waits.ts';

test('every operation waits for D1 once, and for KV before it only when its key is not cached', async () => {
  const { table } = await measureWaits();
  const [, ...rows] = table;
  expect(rows).toHaveLength(9);
  for (const [operation, warm, old, cold, unknownKey] of rows) {
    expect([warm, old, cold, unknownKey], operation).toEqual(['D1', 'D1', 'KV + D1', 'KV']);
  }
});
