/** updatePet and deletePet of an animal without an order. */
import { expect, test } from 'vitest';
import { contents, insertPets, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

test.each([
  ['{"name":"Max"}', '"name":"Max","categoryId":3,"status":"available"'],
  ['{"categoryId":4}', '"name":"Rex","categoryId":4,"status":"available"'],
  ['{"status":"sold"}', '"name":"Rex","categoryId":3,"status":"sold"'],
  ['{"categoryId":-9007199254740993,"status":null}', '"name":"Rex","categoryId":-9007199254740993'],
])('the patch %s changes only its fields', async (patch, expected) => {
  await insertPets(store, 'available', 'available');
  const reply = await updatePet(store, 2, patch);
  expect([reply.status, reply.text]).toEqual([200, `{"id":2,${expected}}`]);
  expect((await store.fetch('/v1/pets')).text).toBe(
    `[{"id":1,"name":"Rex","categoryId":3,"status":"available"},${reply.text}]`,
  );
});

test('a deletion deletes no other animal, and ignores a body that is not JSON', async () => {
  await insertPets(store, 'available', 'available');
  const reply = await store.fetch('/v1/pets/2', { method: 'DELETE', body: '{' });
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
  expect(await contents(store)).toEqual(['animal 1 Rex 3 available']);
});
