import { expect, test, vi } from 'vitest';
import { addPets } from '../../../ops/local/sample-data.ts';
import { startStore } from '../../support/store.ts';
import { importWith } from '../command.ts';

const store = startStore();

test('pets are added beside those that exist, in several statements', async () => {
  const { DB } = store.bindings();
  await addPets(DB, 3);
  await addPets(DB, 4_500);
  // Exactly the rows of two statements.
  await addPets(DB, 4_000);
  const counts = 'SELECT count(*) AS count, count(DISTINCT name) AS names FROM pets';
  expect((await DB.prepare(counts).all()).results).toEqual([{ count: 8_503, names: 4_500 }]);
});

test('a seed whose database is locked tries again, and fails after about ten seconds', async () => {
  const mocks = { 'node:timers/promises': { setTimeout: async () => {} } };
  const { addPets } = await importWith('local/sample-data.ts', mocks);
  const run = vi.fn().mockRejectedValue(new Error('SQLITE_BUSY'));
  const db = { prepare: () => ({ bind: () => ({ run }) }) };
  await expect(addPets(db, 1)).rejects.toThrow('SQLITE_BUSY');
  expect(run).toHaveBeenCalledTimes(500);
});
