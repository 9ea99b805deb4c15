/** DELETE /v1/pets/{petId}: deletePet. */
import { expect, test } from 'vitest';
import { expectError, startStore } from '../support/store.ts';

const store = startStore();
const deletePet = (id: bigint | number) => store.fetch(`/v1/pets/${id}`, { method: 'DELETE' });

test('deletes one animal, although the id of another is the same double', async () => {
  await store.insertPet({ id: 2n ** 53n, name: 'Rex' });
  await store.insertPet({ id: 2n ** 53n + 1n, name: 'Mia' });
  const { status, text, headers } = await deletePet(2n ** 53n + 1n);
  expect([status, text, headers.has('content-type')]).toEqual([204, '', false]);
  expect(await store.rows('pets')).toMatchObject([{ name: 'Rex' }]);
});

test('a body is ignored', async () => {
  await store.insertPet({ id: 7 });
  const reply = await store.fetch('/v1/pets/7', { method: 'DELETE', body: '{' });
  expect(reply.status).toBe(204);
});

test.each(['placed', 'approved'])('an animal whose order is %s stays', async (status) => {
  await store.insertPet({ id: 7, status: 'pending' });
  await store.insertOrder({ pet_id: 7, status });
  expectError(await store.expectUnchanged(() => deletePet(7)), 409, 'pet_has_open_order');
});

test('a deleted animal leaves its orders', async () => {
  await store.insertPet({ id: 7, status: 'sold' });
  await store.insertOrder({ pet_id: 7, status: 'delivered' });
  await store.insertOrder({ pet_id: 7, status: 'cancelled' });
  expect((await deletePet(7)).status).toBe(204);
  expect(await store.rows('orders')).toMatchObject([{ pet_id: 7 }, { pet_id: 7 }]);
});
