/** updatePet and deletePet. test/orders/ordered-pet.test.ts has those of an animal with an order. */
import { expect, test } from 'vitest';
import { stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet, updatePet, deletePet, tableRows } = stepsOf(store);

test.each([{ name: 'Max' }, { categoryId: 0 }, { status: 'sold' }])(
  'the patch %j changes that field alone',
  async (patch) => {
    const rex = { id: 7, name: 'Rex', categoryId: 3, status: 'available' };
    await insertPet(rex);
    const reply = await updatePet(7, patch);
    expect(reply).toMatchObject({ status: 200, body: { ...rex, ...patch } });
    expect((await store.fetch('/v1/pets/7')).text).toBe(reply.text);
  },
);

test('a patch with the status null removes the status', async () => {
  await insertPet({ id: 7, name: 'Rex', categoryId: 3, status: 'available' });
  const reply = await updatePet(7, { status: null });
  expect(reply.body).toEqual({ id: 7, name: 'Rex', categoryId: 3 });
});

test('a patch keeps every digit of a category', async () => {
  await insertPet({ id: 7, name: 'Rex', categoryId: 3, status: 'sold' });
  const reply = await updatePet(7, '{"categoryId":-9007199254740993}');
  expect(reply.text).toContain('"categoryId":-9007199254740993,');
});

/** Two ids that are the same number as doubles. */
const [REX_ID, MIA_ID] = [9007199254740992n, 9007199254740993n];

test('a patch changes no other animal', async () => {
  await insertPet({ id: REX_ID, name: 'Rex' });
  await insertPet({ id: MIA_ID, name: 'Mia' });
  await updatePet(MIA_ID, { name: 'Max' });
  expect(await tableRows()).toMatchObject({ pets: [{ name: 'Rex' }, { name: 'Max' }] });
});

test('a deletion deletes no other animal', async () => {
  await insertPet({ id: REX_ID, name: 'Rex' });
  await insertPet({ id: MIA_ID, name: 'Mia' });
  await deletePet(MIA_ID);
  expect(await tableRows()).toMatchObject({ pets: [{ name: 'Rex' }] });
});

test('a deletion ignores its body, and is a 204 without one', async () => {
  await insertPet({ id: 7 });
  const reply = await store.fetch('/v1/pets/7', { method: 'DELETE', body: '{' });
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
});
