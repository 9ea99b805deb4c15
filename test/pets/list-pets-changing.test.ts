/** Pages of listPets while animals are added and deleted. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addPet, deletePet, seedStore } from '../orders/steps.ts';
import { nextPath, pagesFrom } from '../resources/pages.ts';
import { startStore } from '../store.ts';

const store = startStore();

test('the pages have each animal once, in order, while others are added', async () => {
  const statuses = fc.array(fc.constantFrom('available', 'sold', null), { maxLength: 30 });
  // With at least two on a page, the pages end although each adds one.
  const limits = fc.integer({ min: 2, max: 12 });
  await fc.assert(
    fc.asyncProperty(statuses, limits, async (statuses, limit) => {
      await store.exec(
        `DELETE FROM pets; INSERT INTO pets SELECT key + 1, 'Rex', 3, value
         FROM json_each('${JSON.stringify(statuses)}')`,
      );
      const addSold = () => addPet(store, 'sold');
      const pages = await pagesFrom(store, `/v1/pets?limit=${limit}&status=sold`, addSold);
      const seen = pages.flat();
      const sold = statuses.flatMap((status, i) => (status === 'sold' ? [`${i + 1}`] : []));
      expect(seen.slice(0, sold.length)).toEqual(sold);
      expect(new Set(seen).size).toBe(seen.length);
      for (const page of pages.slice(0, -1)) expect(page).toHaveLength(limit);
    }),
    { numRuns: 25 },
  );
});

test.each(['', '&status=sold'])(
  'the pages have each remaining animal once, and the last is empty%s',
  async (filter) => {
    const ids = Array.from({ length: 12 }, (_, i) => i + 1);
    await store.exec(`INSERT INTO pets SELECT value, 'Rex', 3, 'sold' FROM json_each('[${ids}]')`);
    // After each page, one listed animal is deleted, and one that is not listed yet.
    const deletions = [1, 5, 6, 8, 9, 12];
    const pages = await pagesFrom(store, `/v1/pets?limit=3${filter}`, async () => {
      for (const id of deletions.splice(0, 2)) await deletePet(store, id);
    });
    expect(pages).toEqual([['1', '2', '3'], ['4', '6', '7'], ['9', '10', '11'], []]);
  },
);

test('a cursor stays valid after its page was deleted', async () => {
  await seedStore(store, 11);
  const next = nextPath(await store.fetch('/v1/pets?limit=1&status=available')) ?? '';
  expect((await deletePet(store, 3)).status).toBe(204);
  expect(await pagesFrom(store, next)).toEqual([['11']]);
});
