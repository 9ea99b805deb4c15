/** updatePet and deletePet of an animal with an order. */
import { expect, test } from 'vitest';
import { expectError, stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const { insertPet, insertOrder, updatePet, deletePet, tableRows, expectUnchanged } = stepsOf(
  startStore(),
);

const HAS_OPEN_ORDER =
  'The animal 7 cannot be deleted, and its status cannot be set, until its open order is delivered or cancelled.';

test.each([
  { order: 'approved', change: 'status', send: () => updatePet(7, { name: 'Max', status: null }) },
  { order: 'placed', change: 'deletion', send: () => deletePet(7) },
])('an animal whose order is $order refuses a $change', async ({ order, send }) => {
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ petId: 7, status: order });
  expectError(await expectUnchanged(send), 409, 'pet_has_open_order', HAS_OPEN_ORDER);
});

test('an animal with an open order can get another name and category', async () => {
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ petId: 7, status: 'placed' });
  const reply = await updatePet(7, { name: 'Max', categoryId: 4 });
  expect(reply.body).toEqual({ id: 7, name: 'Max', categoryId: 4, status: 'pending' });
});

test('a deleted animal leaves its orders', async () => {
  await insertPet({ id: 7, status: 'sold' });
  await insertOrder({ id: 5, petId: 7, status: 'delivered' });
  await insertOrder({ id: 6, petId: 7, status: 'cancelled' });
  await deletePet(7);
  expect(await tableRows()).toMatchObject({ pets: [], orders: [{ id: 5 }, { id: 6 }] });
});
