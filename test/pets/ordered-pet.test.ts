/** updatePet and deletePet of an animal with an order. */
import { describe, expect, test } from 'vitest';
import {
  addOrder,
  addPet,
  deletePet,
  expectError,
  expectUnchanged,
  petStatus,
  updatePet,
} from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const setSold = (petId: number) => updatePet(store, petId, { status: 'sold' });
const removeStatus = (petId: number) => updatePet(store, petId, { name: 'Max', status: null });
const remove = (petId: number) => deletePet(store, petId);

describe.each([
  ['setting the status', setSold, 200, 'sold'],
  ['removing the status', removeStatus, 200, undefined],
  ['deleting the animal', remove, 204, 404],
] as const)('%s', (_, change, success, statusAfter) => {
  test.each(['placed', 'approved'] as const)(
    'a change is refused while the order is %s',
    async (order) => {
      const petId = await addPet(store);
      await addOrder(store, petId, order);
      const reply = await expectUnchanged(store, () => change(petId));
      const message = `The animal ${petId} has an open order. Until the order is delivered or cancelled, its status cannot be set and it cannot be deleted.`;
      expectError(reply, 409, 'pet_has_open_order', message);
    },
  );

  test.each(['delivered', 'cancelled'] as const)(
    'a change succeeds once the order is %s',
    async (status) => {
      // The other animal has an open order.
      const [other, petId] = [await addPet(store), await addPet(store)];
      const orders = [await addOrder(store, other), await addOrder(store, petId, status)];
      expect((await change(petId)).status).toBe(success);
      expect(await petStatus(store, petId)).toBe(statusAfter);
      expect((await store.fetch('/v1/store/orders')).body).toEqual(orders);
    },
  );
});

test('the name and category of an animal with an open order can be changed', async () => {
  const petId = await addPet(store);
  await addOrder(store, petId);
  const { text } = await updatePet(store, petId, { name: 'Max', categoryId: 4 });
  expect(text).toBe(`{"id":${petId},"name":"Max","categoryId":4,"status":"pending"}`);
});
