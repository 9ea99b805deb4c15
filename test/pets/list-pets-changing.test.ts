/** Pages of listPets while animals are added and deleted. */
import { expect, test } from 'vitest';
import { addPet, deletePet } from '../orders/steps.ts';
import { pagesFrom } from '../resources/pages.ts';
import { startStore } from '../store.ts';

const store = startStore();

test('the pages have each remaining animal once', async () => {
  const ids = Array.from({ length: 12 }, (_, i) => i + 1);
  await store.exec(`INSERT INTO pets SELECT value, 'Rex', 3, 'sold' FROM json_each('[${ids}]')`);
  // After each page, an animal is added, and two are deleted: the last listed one, and one that is not listed yet.
  const deletions = [3, 5, 7, 8, 11, 12];
  const pages = await pagesFrom(store, '/v1/pets?limit=3&status=sold', async () => {
    await addPet(store, 'sold');
    for (const id of deletions.splice(0, 2)) await deletePet(store, id);
  });
  expect(pages.slice(0, 3)).toEqual(['1 2 3', '4 6 7', '9 10 11']);
  // The last page has the animals that were added after the first three.
  expect(pages.slice(3)).toEqual([expect.stringMatching(/^\d+ \d+ \d+$/)]);
});
