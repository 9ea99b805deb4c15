/** updatePet and deletePet of an animal without an order. */
import { expect, test } from 'vitest';
import { addPet, deletePet, updatePet } from '../orders/steps.ts';
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

test('a deletion is a 204 without a body, and deletes no other animal', async () => {
  const [other, petId] = [await addPet(store), await addPet(store)];
  const reply = await deletePet(store, petId);
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
  expect((await store.fetch('/v1/pets')).body).toMatchObject([{ id: other }]);
});

test('a deleted animal does not exist for any operation', async () => {
  const petId = await addPet(store);
  await deletePet(store, petId);
  expect((await store.fetch(`/v1/pets/${petId}`)).status).toBe(404);
  expect((await deletePet(store, petId)).status).toBe(404);
  expect((await updatePet(store, petId, { name: 'Max' })).status).toBe(404);
  expect((await store.placeOrder({ petId })).body).toMatchObject({ code: 'pet_not_found' });
});

test('a body of a deletion is ignored, even if it is not JSON', async () => {
  const path = `/v1/pets/${await addPet(store)}`;
  expect((await store.fetch(path, { method: 'DELETE', body: '{' })).status).toBe(204);
});
