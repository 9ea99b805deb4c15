/** updatePet and deletePet. test/orders/ordered-pet.test.ts has those of an animal with an order. */
import { expect, test } from 'vitest';
import { stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet, updatePet, deletePet, tableRows } = stepsOf(store);

test.each([
  ['{"name":"Max"}', '{"id":7,"name":"Max","categoryId":3,"status":"available"}'],
  ['{"categoryId":0}', '{"id":7,"name":"Rex","categoryId":0,"status":"available"}'],
  [
    '{"categoryId":-9007199254740993}',
    '{"id":7,"name":"Rex","categoryId":-9007199254740993,"status":"available"}',
  ],
  ['{"status":"sold"}', '{"id":7,"name":"Rex","categoryId":3,"status":"sold"}'],
  ['{"status":null}', '{"id":7,"name":"Rex","categoryId":3}'],
])('the patch %s changes that field alone', async (patch, changed) => {
  await insertPet({ id: 7, name: 'Rex', categoryId: 3, status: 'available' });
  expect(await updatePet(7, patch)).toMatchObject({ status: 200, text: changed });
  expect((await store.fetch('/v1/pets/7')).text).toBe(changed);
});

/** Two ids that are the same number as doubles. */
const [REX_ID, MIA_ID] = [9007199254740992n, 9007199254740993n];

test('a patch and a deletion change no other animal', async () => {
  await insertPet({ id: REX_ID, name: 'Rex' });
  await insertPet({ id: MIA_ID, name: 'Mia' });
  await updatePet(MIA_ID, { name: 'Max' });
  expect(await tableRows()).toMatchObject({ pets: [{ name: 'Rex' }, { name: 'Max' }] });
  await deletePet(MIA_ID);
  expect(await tableRows()).toMatchObject({ pets: [{ name: 'Rex' }] });
});

test('a deletion ignores its body, and is a 204 without one', async () => {
  await insertPet({ id: 7 });
  const reply = await store.fetch('/v1/pets/7', { method: 'DELETE', body: '{' });
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
});
