/** Pages of listPets and listOrders. */
import { describe, expect, test } from 'vitest';
import { addPet, deletePet, seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';
import { nextPath, pagesFrom } from './pages.ts';

const store = startStore();

/** `filtered` has the pages of at most two items in a store of twelve: see `seedStore`. */
describe.each([
  {
    path: '/v1/pets',
    insert: "INSERT INTO pets (id, name, category_id, status) SELECT value, 'Rex', 1, 'sold'",
    filter: 'status=sold',
    filtered: { available: ['3 11'], pending: ['1 4', '5 8', '9 12'], sold: ['2 6', '10'] },
  },
  {
    path: '/v1/store/orders',
    insert: "INSERT INTO orders (id, pet_id, status) SELECT value, value, 'placed'",
    filter: 'status=placed',
    filtered: {
      ...{ placed: ['4 8', '12'], approved: ['1 5', '9'] },
      ...{ delivered: ['2 6', '10'], cancelled: ['3 7', '11'] },
    },
  },
])('the list $path', ({ path, insert, filter, filtered }) => {
  test('has 20 items by default, at most 100, and a Link to the next page', async () => {
    await seedStore(store, 101);
    const reply = await store.fetch(path);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body).toHaveLength(20);
    expect(reply.headers.get('link')).toMatch(
      new RegExp(`^<${store.url()}${path}\\?limit=20&cursor=[\\w-]+>; rel="next"$`),
    );
    expect((await store.fetch(`${path}?limit=100`)).body).toHaveLength(100);
  });

  test('has each item once, by ascending id, and no Link on a full last page', async () => {
    await seedStore(store, 6);
    expect(await pagesFrom(store, `${path}?limit=4`)).toEqual(['1 2 3 4', '5 6']);
    expect(await pagesFrom(store, `${path}?limit=3`)).toEqual(['1 2 3', '4 5 6']);
  });

  test.each(Object.entries(filtered))('of the status %s has no others', async (status, pages) => {
    await seedStore(store, 12);
    expect(await pagesFrom(store, `${path}?limit=2&status=${status}`)).toEqual(pages);
  });

  test('continues with another limit', async () => {
    await seedStore(store, 6);
    const next = nextPath(await store.fetch(`${path}?limit=2`)) ?? '';
    const larger = next.replace('limit=2', 'limit=3');
    expect(await pagesFrom(store, larger)).toEqual(['3 4 5', '6']);
  });

  test('keeps every digit of ids, with and without a filter', async () => {
    const ids = ['-9223372036854775808', '-1', '0', '9007199254740993', '9223372036854775807'];
    await store.exec(`${insert} FROM json_each('[${ids}]')`);
    expect(await pagesFrom(store, `${path}?limit=1`)).toEqual(ids);
    expect(await pagesFrom(store, `${path}?limit=1&${filter}`)).toEqual(ids);
  });
});

test('while animals are added and deleted, the pages have each remaining animal once', async () => {
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
