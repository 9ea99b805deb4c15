/** updatePet and deletePet, also of an animal with an order. */
import { expect, test } from 'vitest';
import { expectError, stepsOf } from '../steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
const { insertPet, insertOrder, updatePet, deletePet, contents, expectUnchanged } = stepsOf(store);

test.each([{ name: 'Max' }, { categoryId: 0 }, { status: 'sold' }])(
  'the patch %j changes that field alone',
  async (patch) => {
    await insertPet({ id: 7, name: 'Rex', categoryId: 3, status: 'available' });
    const reply = await updatePet(7, patch);
    const rex = { id: 7, name: 'Rex', categoryId: 3, status: 'available' };
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

// As doubles, the ids are the same number.
test('a patch changes no other animal', async () => {
  await insertPet({ id: 9007199254740992n, name: 'Rex' });
  await insertPet({ id: 9007199254740993n, name: 'Mia' });
  await updatePet(9007199254740993n, { name: 'Max' });
  expect(await contents()).toMatchObject({ pets: [{ name: 'Rex' }, { name: 'Max' }] });
});

test('a deletion deletes no other animal, and ignores its body', async () => {
  await insertPet({ id: 9007199254740992n, name: 'Rex' });
  await insertPet({ id: 9007199254740993n, name: 'Mia' });
  const init = { method: 'DELETE', body: '{' };
  const reply = await store.fetch('/v1/pets/9007199254740993', init);
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
  expect(await contents()).toMatchObject({ pets: [{ name: 'Rex' }] });
});

const HAS_OPEN_ORDER =
  'The animal 7 has an open order. Until the order is delivered or cancelled, its status cannot be set and it cannot be deleted.';

test.each([
  { order: 'placed', patch: { status: 'sold' } },
  { order: 'approved', patch: { name: 'Max', status: null } },
])('an animal whose order is $order refuses the patch $patch', async ({ order, patch }) => {
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ petId: 7, status: order });
  const reply = await expectUnchanged(() => updatePet(7, patch));
  expectError(reply, 409, 'pet_has_open_order', HAS_OPEN_ORDER);
});

test.each(['placed', 'approved'])(
  'an animal whose order is %s cannot be deleted',
  async (order) => {
    await insertPet({ id: 7, status: 'pending' });
    await insertOrder({ petId: 7, status: order });
    const reply = await expectUnchanged(() => deletePet(7));
    expectError(reply, 409, 'pet_has_open_order', HAS_OPEN_ORDER);
  },
);

test('an animal with an open order can get another name and category', async () => {
  await insertPet({ id: 7, name: 'Rex', categoryId: 3, status: 'pending' });
  await insertOrder({ petId: 7, status: 'placed' });
  const reply = await updatePet(7, { name: 'Max', categoryId: 4 });
  expect(reply.body).toEqual({ id: 7, name: 'Max', categoryId: 4, status: 'pending' });
});

test('an animal without an open order can get another status', async () => {
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ petId: 7, status: 'delivered' });
  await insertOrder({ petId: 7, status: 'cancelled' });
  const reply = await updatePet(7, { status: 'sold' });
  expect(reply).toMatchObject({ status: 200, body: { status: 'sold' } });
});

test('an animal without an open order can be deleted, and its orders stay', async () => {
  await insertPet({ id: 7, status: 'sold' });
  await insertOrder({ id: 5, petId: 7, status: 'delivered' });
  await insertOrder({ id: 6, petId: 8, status: 'placed' });
  await deletePet(7);
  expect(await contents()).toMatchObject({ pets: [], orders: [{ id: 5 }, { id: 6 }] });
});
