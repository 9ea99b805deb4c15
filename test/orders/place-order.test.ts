/** placeOrder: the order, the status of its animal, refusals and races. */
import { expect, test } from 'vitest';
import { expectError, stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet, insertOrder, updatePet, tableRows, expectUnchanged } = stepsOf(store);

const WITH_KEY = { headers: { 'idempotency-key': 'k' } };

test('an order makes its animal pending, and no other', async () => {
  await insertPet({ id: 1, status: 'available' });
  await insertPet({ id: 2, status: 'available' });
  await store.placeOrder({ petId: 2 });
  expect(await tableRows()).toMatchObject({
    pets: [
      { id: 1, status: 'available' },
      { id: 2, status: 'pending' },
    ],
    orders: [{ pet_id: 2, status: 'placed' }],
  });
});

test.each(['pending', 'sold', null])(
  'an animal with the status %s cannot be ordered',
  async (status) => {
    await insertPet({ id: 7, status });
    const reply = await expectUnchanged(() => store.placeOrder({ petId: 7 }));
    const why = status ? `: it is ${status}` : '';
    expectError(reply, 409, 'pet_not_available', `The animal 7 is not available${why}.`);
  },
);

test('an animal that does not exist cannot be ordered', async () => {
  const reply = await expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expectError(reply, 404, 'pet_not_found', expect.stringMatching(/ 7\b/));
});

test('an animal with an open order that an operator made available is not ordered twice', async () => {
  await insertPet({ id: 7, status: 'available' });
  await insertOrder({ id: 1, petId: 7, status: 'approved' });
  const reply = await expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expectError(reply, 409, 'pet_not_available', 'The animal 7 is not available.');
});

test('a refused order stores nothing, and succeeds later', async () => {
  await insertPet({ id: 7, status: 'sold' });
  // The last row that was inserted is not the refused order.
  await insertOrder({ petId: 7, status: 'delivered' });
  const refused = await expectUnchanged(() => store.placeOrder({ petId: 7 }));
  expect(refused.status).toBe(409);
  await updatePet(7, { status: 'available' });
  expect((await store.placeOrder({ petId: 7 }, WITH_KEY)).status).toBe(201);
});

test('placeOrder shares no key with createPet', async () => {
  await insertPet({ id: 7, status: 'available' });
  await store.createPet({ name: 'Rex', categoryId: 3 }, WITH_KEY);
  expect((await store.placeOrder({ petId: 7 }, WITH_KEY)).status).toBe(201);
});
