import { expect, test } from 'vitest';
import { addPet, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

test.each([
  ['{"name":"Max"}', '"name":"Max","categoryId":3,"status":"available"'],
  ['{"categoryId":4}', '"name":"Rex","categoryId":4,"status":"available"'],
  ['{"status":"sold"}', '"name":"Rex","categoryId":3,"status":"sold"'],
  ['{"categoryId":-9007199254740993,"status":null}', '"name":"Rex","categoryId":-9007199254740993'],
  ['{"name":"Max","categoryId":4,"status":null}', '"name":"Max","categoryId":4'],
])('the patch %s changes only its fields', async (patch, expected) => {
  const [other, petId] = [await addPet(store), await addPet(store)];
  const reply = await updatePet(store, petId, patch);
  expect([reply.status, reply.text]).toEqual([200, `{"id":${petId},${expected}}`]);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect((await store.fetch('/v1/pets')).text).toBe(
    `[{"id":${other},"name":"Rex","categoryId":3,"status":"available"},${reply.text}]`,
  );
});
