import { expect, test, vi } from 'vitest';
import { addPets } from '../../../ops/local/sample-data.ts';
import { startStore } from '../../support/store.ts';

const store = startStore();

test('pets are added beside those that exist, in several statements', async () => {
  const { DB } = await store.bindings();
  await addPets(DB, 3);
  await addPets(DB, 4_500);
  // Exactly the rows of two statements.
  await addPets(DB, 4_000);
  const counts = 'SELECT count(*) AS count, count(DISTINCT name) AS names FROM pets';
  expect((await DB.prepare(counts).all()).results).toEqual([{ count: 8_503, names: 4_500 }]);
});

test('a statement is repeated while another process writes', async () => {
  const run = vi.fn().mockRejectedValueOnce(new Error('D1_ERROR: SQLITE_BUSY'));
  await addPets({ prepare: () => ({ bind: () => ({ run }) }) } as never, 1);
  expect(run).toHaveBeenCalledTimes(2);
});
