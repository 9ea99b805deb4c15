/** The client with the real store. */
import { expect, test } from 'vitest';
import { startStore } from '../../test/support/store.ts';
import { createAnimalStore } from '../src/index.ts';

const store = startStore();
const REX = { name: 'Rex 🐈', categoryId: 1n - 2n ** 63n, status: 'available' } as const;

test('the client and the store agree on every digit, page, bookmark and code', async () => {
  const session = createAnimalStore({
    baseUrl: `${store.url()}/v1`,
    apiKey: await store.issueKey(),
  }).session();
  const rex = await session.createPet(REX, { idempotencyKey: 'mine' });
  expect(await session.createPet(REX, { idempotencyKey: 'mine' })).toEqual(rex);
  const max = await session.createPet({ ...REX, name: 'Max' });
  expect(rex).toEqual({ id: rex.id, ...REX });
  expect(session.bookmark).toMatch(/^[0-9a-f]{8}-/);
  expect(await Array.fromAsync(session.listPets({ limit: 1 }))).toEqual([rex, max]);
  const order = await session.placeOrder({ petId: rex.id });
  const status = 'cancelled';
  expect(await session.updateOrder(order.id, { status })).toEqual({ ...order, status });
  await session.deletePet(max.id);
  await expect(session.getPet(max.id)).rejects.toHaveProperty('code', 'pet_not_found');
});
