/** Every transition of an order from every status, and the status of its animal after it. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';
import {
  contents,
  expectError,
  expectUnchanged,
  insertOrder,
  insertPets,
  updateOrder,
} from './steps.ts';

const store = startStore();

test.each([
  { from: 'placed', to: 'approved', pet: 'pending' },
  { from: 'placed', to: 'cancelled', pet: 'available' },
  { from: 'approved', to: 'delivered', pet: 'sold' },
  { from: 'approved', to: 'cancelled', pet: 'available' },
])('an order from $from to $to leaves the animal $pet, and no other', async ({ from, to, pet }) => {
  await insertPets(store, 'pending', 'pending');
  await insertOrder(store, 1, 'placed');
  await insertOrder(store, 2, 'delivered');
  await insertOrder(store, 2, from);
  const reply = await updateOrder(store, 3, to);
  expect(reply.status).toBe(200);
  expect((await store.fetch('/v1/store/orders/3')).text).toBe(reply.text);
  expect(await contents(store)).toEqual([
    'animal 1 Rex 3 pending',
    `animal 2 Rex 3 ${pet}`,
    'order 1 of 1 placed',
    'order 2 of 2 delivered',
    `order 3 of 2 ${to}`,
  ]);
});

test.each([
  { from: 'placed', others: ['delivered'] },
  { from: 'approved', others: ['placed'] },
  { from: 'delivered', others: ['placed', 'approved', 'cancelled'], later: 'placed' },
  { from: 'cancelled', others: ['placed', 'approved', 'delivered'], later: 'placed' },
])('an order cannot go from $from to $others', async ({ from, others, later }) => {
  await insertPets(store, 'pending');
  await insertOrder(store, 1, from);
  // Once an order is closed, its animal can have another one, which must stay as it is.
  if (later) await insertOrder(store, 1, later);
  for (const to of others) {
    const reply = await expectUnchanged(store, () => updateOrder(store, 1, to));
    expectError(reply, 409, 'invalid_transition', `The order is ${from}: it cannot become ${to}.`);
  }
  const again = await expectUnchanged(store, () => updateOrder(store, 1, from));
  expect([again.status, again.body]).toMatchObject([200, { id: 1, petId: 1, status: from }]);
});
