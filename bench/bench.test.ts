/** What the benchmarks print. */
import { expect, test } from 'vitest';
import { addPets } from '../ops/local/sample-data.ts';
import { LOCAL_KEY } from '../ops/local/store.ts';
import { startStore } from '../test/support/store.ts';
import { countRows } from './rows.ts';
import { median, show, table } from './statistics.ts';

const store = startStore();

test('a create with a key counts its record: the row, the index entry, and the removal a day later', async () => {
  const env = await store.bindings();
  await store.putRecord(LOCAL_KEY, { id: 'local' });
  await addPets(env.DB, 40);
  const counts = await countRows(env, 40);
  expect(counts).toMatchObject({ getPet: { read: 1, written: 0 } });
  const { createPet, 'createPet with Idempotency-Key': withKey } = counts;
  expect(withKey?.written).toBe(Number(createPet?.written) + 3);
});

test('a figure is the median of its rounds, with the range of half of them', () => {
  expect(show(median([12_345, 8, 30_000, 1_000, 20_000]))).toBe('12,300 (1,000–20,000)');
});

test('figures stand in a Markdown table', () => {
  expect(table(['a', 'b'], [['c', '1']])).toBe('| a | b |\n| --- | --: |\n| c | 1 |');
});
