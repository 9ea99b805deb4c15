/** Every transition of an order from every status, and the status of its animal after it. */
import { expect, test } from 'vitest';
import { startStore } from '../store.ts';
import {
  addOrder,
  addPet,
  expectError,
  expectUnchanged,
  petStatus,
  setStatus,
  updatePet,
} from './steps.ts';

const store = startStore();

test.each([
  { from: 'placed', to: 'approved', pet: 'pending' },
  { from: 'placed', to: 'cancelled', pet: 'available' },
  { from: 'approved', to: 'delivered', pet: 'sold' },
  { from: 'approved', to: 'cancelled', pet: 'available' },
] as const)(
  'an order from $from to $to leaves the animal $pet, and no other',
  async ({ from, to, pet }) => {
    const [other, petId] = [await addPet(store), await addPet(store)];
    const order = await addOrder(store, petId, from);
    const reply = await setStatus(store, order.id, to);
    expect([reply.status, reply.body]).toEqual([200, { ...order, status: to }]);
    const listed = await store.fetch(`/v1/store/orders?status=${to}`);
    expect(listed.text).toBe(`[${reply.text}]`);
    expect(await petStatus(store, petId)).toBe(pet);
    expect(await petStatus(store, other)).toBe('available');
  },
);

test.each([
  { from: 'placed', to: 'delivered' },
  { from: 'approved', to: 'placed' },
  { from: 'delivered', to: 'placed' },
  { from: 'delivered', to: 'approved' },
  { from: 'delivered', to: 'cancelled' },
  { from: 'cancelled', to: 'placed' },
  { from: 'cancelled', to: 'approved' },
  { from: 'cancelled', to: 'delivered' },
] as const)('an order cannot go from $from to $to', async ({ from, to }) => {
  const order = await addOrder(store, await addPet(store), from);
  const reply = await expectUnchanged(store, () => setStatus(store, order.id, to));
  expectError(reply, 409, 'invalid_transition', `The order is ${from}: it cannot become ${to}.`);
});

test.each(['placed', 'approved', 'delivered', 'cancelled'] as const)(
  'an order that is %s again is a 200 that changes nothing',
  async (status) => {
    const order = await addOrder(store, await addPet(store), status);
    const reply = await expectUnchanged(store, () => setStatus(store, order.id, status));
    expect([reply.status, reply.body]).toEqual([200, order]);
  },
);

test.each(['delivered', 'cancelled'] as const)(
  'an order that is %s again does not touch a later one of the animal',
  async (status) => {
    const petId = await addPet(store);
    const first = await addOrder(store, petId, status);
    await updatePet(store, petId, { status: 'available' });
    await addOrder(store, petId);
    const reply = await expectUnchanged(store, () => setStatus(store, first.id, status));
    expect(reply.status).toBe(200);
  },
);
