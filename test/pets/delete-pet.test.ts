import { describe, expect, test } from 'vitest';
import {
  addOrder,
  addPet,
  contents,
  deletePet,
  petStatus,
  setStatus,
  updatePet,
} from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

test('an animal is deleted: a 204 without a body, then it does not exist', async () => {
  const [other, petId] = [await addPet(store), await addPet(store)];
  const reply = await deletePet(store, petId);
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
  expect((await deletePet(store, petId)).status).toBe(404);
  expect((await store.fetch(`/v1/pets/${petId}`)).status).toBe(404);
  expect((await updatePet(store, petId, { name: 'Max' })).status).toBe(404);
  expect((await store.placeOrder({ petId })).body).toMatchObject({ code: 'pet_not_found' });
  expect((await store.fetch('/v1/pets')).body).toMatchObject([{ id: other }]);
});

test.each([
  ['of JSON', '{"name":"Rex"}'],
  ['that is not JSON', '{'],
  ['larger than 16 KiB', 'x'.repeat(100_000)],
])('a body %s is ignored', async (_, body) => {
  const petId = await addPet(store);
  expect((await store.fetch(`/v1/pets/${petId}`, { method: 'DELETE', body })).status).toBe(204);
});

describe('an animal with an order', () => {
  test.each(['placed', 'approved'] as const)('is not deleted while it is %s', async (status) => {
    const petId = await addPet(store);
    await addOrder(store, petId, status);
    const before = await contents(store);
    const reply = await deletePet(store, petId);
    expect(reply.body).toMatchObject({ code: 'pet_has_open_order', status: 409 });
    expect(reply.status).toBe(409);
    expect(await contents(store)).toBe(before);
  });

  test.each(['delivered', 'cancelled'] as const)(
    'is deleted after it was %s, and the order keeps its petId',
    async (status) => {
      const petId = await addPet(store);
      const order = await addOrder(store, petId, status);
      expect((await deletePet(store, petId)).status).toBe(204);
      expect((await store.fetch('/v1/store/orders')).body).toEqual([order]);
    },
  );

  test('stays deleted when the order is set to its status again', async () => {
    const petId = await addPet(store);
    const { id } = await addOrder(store, petId, 'cancelled');
    await deletePet(store, petId);
    expect((await setStatus(store, id, 'cancelled')).status).toBe(200);
    expect((await setStatus(store, id, 'approved')).status).toBe(409);
    expect(await petStatus(store, petId)).toBe(404);
  });

  test('does not prevent the deletion of another', async () => {
    const [ordered, petId] = [await addPet(store), await addPet(store)];
    await addOrder(store, ordered);
    expect((await deletePet(store, petId)).status).toBe(204);
  });
});

test('of a concurrent order and deletion, the later is refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    const petId = await addPet(store);
    const [order, deletion] = await Promise.all([
      store.placeOrder({ petId }),
      deletePet(store, petId),
    ]);
    expect([
      { order: 201, deletion: 409, pet: 'pending' },
      { order: 404, deletion: 204, pet: 404 },
    ]).toContainEqual({
      ...{ order: order.status, deletion: deletion.status },
      pet: await petStatus(store, petId),
    });
  }
});

test('of twenty concurrent deletions, one is a 204', async () => {
  const petId = await addPet(store);
  const replies = await Promise.all(Array.from({ length: 20 }, () => deletePet(store, petId)));
  const statuses = replies.map(({ status }) => status).sort();
  expect(statuses).toEqual([204, ...Array(19).fill(404)]);
});
