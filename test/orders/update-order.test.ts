/** updateOrder: each change of an order's status, and the status of its animal after it. */
import { expect, test } from 'vitest';
import { expectError, stepsOf } from '../steps.ts';
import { startStore } from '../store.ts';

const { insertPet, insertOrder, updateOrder, contents, expectUnchanged } = stepsOf(startStore());

test.each([
  { from: 'placed', to: 'approved', petStatus: 'pending' },
  { from: 'placed', to: 'cancelled', petStatus: 'available' },
  { from: 'approved', to: 'delivered', petStatus: 'sold' },
  { from: 'approved', to: 'cancelled', petStatus: 'available' },
])('an order can go from $from to $to: its animal is $petStatus', async (change) => {
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ id: 5, petId: 7, status: change.from });
  const reply = await updateOrder(5, change.to);
  expect(reply).toMatchObject({ status: 200, body: { id: 5, petId: 7, status: change.to } });
  expect(await contents()).toMatchObject({
    pets: [{ id: 7, status: change.petStatus }],
    orders: [{ id: 5, pet_id: 7, status: change.to }],
  });
});

test('a delivery changes no other animal and no other order', async () => {
  // As doubles, the ids are the same number.
  await insertPet({ id: 9007199254740992n, name: 'Rex', status: 'pending' });
  await insertPet({ id: 9007199254740993n, name: 'Mia', status: 'pending' });
  await insertOrder({ id: 9007199254740992n, petId: 9007199254740992n, status: 'approved' });
  await insertOrder({ id: 9007199254740993n, petId: 9007199254740993n, status: 'approved' });
  await updateOrder(9007199254740993n, 'delivered');
  expect(await contents()).toMatchObject({
    pets: [
      { name: 'Rex', status: 'pending' },
      { name: 'Mia', status: 'sold' },
    ],
    orders: [{ status: 'approved' }, { status: 'delivered' }],
  });
});

test.each([
  { from: 'placed', to: 'delivered' },
  { from: 'approved', to: 'placed' },
  { from: 'delivered', to: 'placed' },
  { from: 'delivered', to: 'approved' },
  { from: 'delivered', to: 'cancelled' },
  { from: 'cancelled', to: 'placed' },
  { from: 'cancelled', to: 'approved' },
  { from: 'cancelled', to: 'delivered' },
])('an order cannot go from $from to $to', async ({ from, to }) => {
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ id: 5, petId: 7, status: from });
  const reply = await expectUnchanged(() => updateOrder(5, to));
  const message = `The order is ${from}: it cannot become ${to}.`;
  expectError(reply, 409, 'invalid_transition', message);
});

test.each(['placed', 'approved', 'delivered', 'cancelled'])(
  'an order that is %s can be set to that again, which changes nothing',
  async (status) => {
    await insertPet({ id: 7, status: 'pending' });
    await insertOrder({ id: 5, petId: 7, status });
    const reply = await expectUnchanged(() => updateOrder(5, status));
    expect(reply).toMatchObject({ status: 200, body: { id: 5, petId: 7, status } });
  },
);
