/** updateOrder: each change of an order's status, and the status of its animal after it. */
import { expect, test } from 'vitest';
import { expectError, stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const { insertPet, insertOrder, updateOrder, tableRows, expectUnchanged } = stepsOf(startStore());

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
  expect(await tableRows()).toMatchObject({
    pets: [{ id: 7, status: change.petStatus }],
    orders: [{ id: 5, pet_id: 7, status: change.to }],
  });
});

/** Two ids that are the same number as doubles. Each is that of an animal, and of its order. */
const [REX_ID, MIA_ID] = [9007199254740992n, 9007199254740993n];

test('a delivery changes no other animal and no other order', async () => {
  await insertPet({ id: REX_ID, status: 'pending' });
  await insertPet({ id: MIA_ID, status: 'pending' });
  await insertOrder({ id: REX_ID, petId: REX_ID, status: 'approved' });
  await insertOrder({ id: MIA_ID, petId: MIA_ID, status: 'approved' });
  await updateOrder(MIA_ID, 'delivered');
  expect(await tableRows()).toMatchObject({
    pets: [{ status: 'pending' }, { status: 'sold' }],
    orders: [{ status: 'approved' }, { status: 'delivered' }],
  });
});

test.each([
  ['placed', 'delivered'],
  ['approved', 'placed'],
  ['delivered', 'placed'],
  ['delivered', 'approved'],
  ['delivered', 'cancelled'],
  ['cancelled', 'placed'],
  ['cancelled', 'approved'],
  ['cancelled', 'delivered'],
])('an order cannot go from %s to %s', async (from, to) => {
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

test('a status that does not exist is a 400 that names those that do', async () => {
  const message = 'status: must be one of placed, approved, delivered, cancelled';
  expectError(await updateOrder(5, 'shipped'), 400, 'invalid_request', message);
});
