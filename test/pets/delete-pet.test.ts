/** DELETE /v1/pets/{petId}: deletePet. */
import { expect, test } from 'vitest';
import { expectError, startStore } from '../support/store.ts';

const store = startStore();
const deletePet = (id: bigint, body?: string) =>
  store.fetch(`/v1/pets/${id}`, { method: 'DELETE', ...(body && { body }) });

test('deletes one animal, although the id of another is the same double', async () => {
  await store.insertPet({ id: 2n ** 53n, name: 'Rex' });
  await store.insertPet({ id: 2n ** 53n + 1n, name: 'Mia' });
  const { status, text, headers } = await deletePet(2n ** 53n + 1n);
  expect([status, text, headers.has('content-type')]).toEqual([204, '', false]);
  expect(await store.rows('pets')).toMatchObject([{ name: 'Rex' }]);
});

test.each(['placed', 'approved'])('an animal whose order is %s stays', async (status) => {
  // Only the order counts.
  await store.insertPet({ id: 7, status: 'available' });
  await store.insertOrder({ pet_id: 7, status });
  const reply = await store.expectUnchanged(() => deletePet(7n));
  const message =
    'The animal 7 cannot be deleted, and its status cannot be set, ' +
    'until its open order is delivered or cancelled.';
  expectError(reply, 409, 'pet_has_open_order', message);
});

test('a deleted animal leaves its orders, and a body is ignored', async () => {
  await store.insertPet({ id: 7, status: 'pending' });
  for (const status of ['delivered', 'cancelled']) await store.insertOrder({ pet_id: 7, status });
  // Of another animal.
  await store.insertOrder({ pet_id: 8, status: 'placed' });
  const orders = await store.rows('orders');
  expect((await deletePet(7n, '{')).status).toBe(204);
  expect(await store.rows('orders')).toEqual(orders);
});
