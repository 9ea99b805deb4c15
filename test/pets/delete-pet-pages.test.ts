/** Pages and cursors of listPets while animals are deleted. */
import { expect, test } from 'vitest';
import { addPet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const remove = (petId: number) => store.fetch(`/v1/pets/${petId}`, { method: 'DELETE' });

type Page = { ids: number[]; next: string };

async function page(path: string): Promise<Page> {
  const { status, body, headers } = await store.fetch(path);
  expect(status).toBe(200);
  const address = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? store.url();
  return {
    ids: (body as { id: number }[]).map(({ id }) => id),
    next: address.slice(store.url().length),
  };
}

test('a cursor remains valid after its animal was deleted', async () => {
  const ids: number[] = [];
  for (let i = 0; i < 5; i += 1) ids.push(await addPet(store));
  const first = await page('/v1/pets?limit=2');
  for (const petId of first.ids) await remove(petId);
  const second = await page(first.next);
  expect([first.ids, second.ids]).toEqual([ids.slice(0, 2), ids.slice(2, 4)]);
});

test('a page whose animals were all deleted is empty and the last one', async () => {
  for (let i = 0; i < 4; i += 1) await addPet(store, 'sold');
  const { next } = await page('/v1/pets?limit=2&status=sold');
  for (const petId of (await page(next)).ids) await remove(petId);
  expect(await page(next)).toEqual({ ids: [], next: '' });
});

test.each(['/v1/pets?limit=3', '/v1/pets?limit=3&status=sold'])(
  'the pages of %s have each remaining animal once, in order',
  async (path) => {
    const ids: number[] = [];
    for (let i = 0; i < 12; i += 1) ids.push(await addPet(store, 'sold'));
    const seen: number[] = [];
    // After each page, delete one listed animal, and one that is not listed yet.
    const removals = [[0, 4], [5, 7], [8, 11], []];
    let next = path;
    for (const removal of removals) {
      const found = await page(next);
      seen.push(...found.ids);
      for (const index of removal) expect((await remove(ids[index] ?? 0)).status).toBe(204);
      next = found.next;
    }
    expect(seen).toEqual([0, 1, 2, 3, 5, 6, 8, 9, 10].map((index) => ids[index]));
    expect(next).toBe('');
  },
);
