/** The client with the real store. */
import { expect, test } from 'vitest';
import { startStore } from '../../test/support/store.ts';
import { createAnimalStore } from '../src/index.ts';
import { itemsOf } from './fake.ts';

const store = startStore();
const REX = { name: 'Rex 🐈', categoryId: 1n - 2n ** 63n, status: 'available' } as const;

test('the client and the store agree on every digit, page, bookmark and code', async () => {
  const options = { baseUrl: `${store.url()}/v1`, apiKey: await store.issueKey() };
  const session = createAnimalStore(options).session();
  const rex = await session.createPet(REX, { idempotencyKey: 'mine' });
  expect(await session.createPet(REX, { idempotencyKey: 'mine' })).toEqual(rex);
  const max = await session.createPet({ ...REX, name: 'Max' });
  expect(rex).toEqual({ id: rex.id, ...REX });
  expect(session.bookmark).toMatch(/^[0-9a-f]{8}-/);
  expect(await itemsOf(session.listPets({ limit: 1 }))).toEqual([rex, max]);
  const order = await session.placeOrder({ petId: rex.id });
  const cancelled = { ...order, status: 'cancelled' };
  expect(await session.updateOrder(order.id, { status: 'cancelled' })).toEqual(cancelled);
  expect(await session.updatePet(max.id, { status: null })).not.toHaveProperty('status');
  await session.deletePet(max.id);
  const missing = { code: 'pet_not_found', requestId: expect.any(String) };
  await expect(session.getPet(max.id)).rejects.toMatchObject(missing);
});
