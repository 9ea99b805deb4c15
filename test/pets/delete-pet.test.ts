/** DELETE /v1/pets/{petId}: deletePet. An open order: test/pets/update-pet.test.ts. */
import { expect, test } from 'vitest';
import { startStore } from '../support/store.ts';

const store = startStore();

test('deletes one animal, although another has the same double, and ignores a body', async () => {
  const id = 2n ** 53n + 1n;
  await store.insertPet({ id: 2n ** 53n, name: 'Rex' });
  await store.insertPet({ id, name: 'Mia', status: 'pending' });
  for (const status of ['delivered', 'cancelled']) await store.insertOrder({ pet_id: id, status });
  await store.insertOrder({ pet_id: 2n ** 53n, status: 'placed' });
  const orders = await store.rows('orders');
  const init = { method: 'DELETE', body: '{' };
  const { status, text, headers } = await store.fetch(`/v1/pets/${id}`, init);
  expect([status, text, headers.has('content-type')]).toEqual([204, '', false]);
  expect(await store.rows('pets')).toMatchObject([{ name: 'Rex' }]);
  expect(await store.rows('orders')).toEqual(orders);
});
