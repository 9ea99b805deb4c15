import { describe, expect, test } from 'vitest';
import { addOrder, addPet, contents, petStatus, setStatus, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

describe('only the fields in the patch change', () => {
  test.each([
    [{ name: 'Max' }, '"name":"Max","categoryId":3,"status":"available"'],
    [{ categoryId: 4 }, '"name":"Rex","categoryId":4,"status":"available"'],
    [{ status: 'sold' }, '"name":"Rex","categoryId":3,"status":"sold"'],
    [{ status: null }, '"name":"Rex","categoryId":3'],
    [{ name: 'Max', categoryId: 4 }, '"name":"Max","categoryId":4,"status":"available"'],
    [{ name: 'Max', status: 'sold' }, '"name":"Max","categoryId":3,"status":"sold"'],
    [{ categoryId: 4, status: null }, '"name":"Rex","categoryId":4'],
    [{ name: 'Max', categoryId: 4, status: null }, '"name":"Max","categoryId":4'],
  ])('%j', async (patch, expected) => {
    const [other, petId] = [await addPet(store), await addPet(store)];
    const reply = await updatePet(store, petId, patch);
    expect([reply.status, reply.text]).toEqual([200, `{"id":${petId},${expected}}`]);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect((await store.fetch('/v1/pets')).text).toBe(
      `[{"id":${other},"name":"Rex","categoryId":3,"status":"available"},${reply.text}]`,
    );
  });

  test('every status can be set after every other, and after none', async () => {
    const petId = await addPet(store, null);
    for (const status of ['pending', 'available', 'sold', 'pending', 'sold', 'available']) {
      expect((await updatePet(store, petId, { status })).body).toMatchObject({ status });
      expect((await store.fetch(`/v1/pets?status=${status}`)).body).toMatchObject([{ id: petId }]);
    }
  });

  test('the same patch again is a 200 with the same body', async () => {
    const petId = await addPet(store);
    const first = await updatePet(store, petId, { name: 'Max', status: null });
    const again = await updatePet(store, petId, { name: 'Max', status: null });
    expect([again.status, again.text]).toEqual([200, first.text]);
  });

  test.each(['application/merge-patch+json', 'Application/Merge-Patch+JSON; charset=utf-8'])(
    'the type may be %s',
    async (type) => {
      const petId = await addPet(store);
      const headers = { 'content-type': type };
      const patch = { status: null };
      const reply = await store.send('PATCH', `/v1/pets/${petId}`, patch, { headers });
      expect([reply.status, reply.body]).toEqual([200, { id: petId, name: 'Rex', categoryId: 3 }]);
    },
  );

  test('a category keeps its digits', async () => {
    const { text } = await updatePet(store, await addPet(store), '{"categoryId":9007199254740993}');
    expect(text).toContain('"categoryId":9007199254740993,');
    expect((await store.fetch('/v1/pets')).text).toBe(`[${text}]`);
  });
});

describe('while an order of the animal is open', () => {
  test.each([
    ['placed', { status: 'pending' }],
    ['placed', { status: 'sold', name: 'Max' }],
    ['approved', { status: null, categoryId: 4 }],
  ] as const)('(%s) the patch %j is a 409 that changes nothing', async (order, patch) => {
    const petId = await addPet(store);
    await addOrder(store, petId, order);
    const before = await contents(store);
    const reply = await updatePet(store, petId, patch);
    expect(reply.body).toEqual({
      code: 'pet_has_open_order',
      message: `The animal ${petId} has an open order. Until the order is delivered or cancelled, its status cannot be set and it cannot be deleted.`,
      status: 409,
    });
    expect(reply.status).toBe(409);
    expect(await contents(store)).toBe(before);
  });

  test('its name and category can be changed, and its order approved', async () => {
    const petId = await addPet(store);
    const { id } = await addOrder(store, petId);
    const reply = await updatePet(store, petId, { name: 'Max', categoryId: 4 });
    expect([reply.status, reply.body]).toEqual([
      200,
      { id: petId, name: 'Max', categoryId: 4, status: 'pending' },
    ]);
    expect((await setStatus(store, id, 'approved')).status).toBe(200);
  });

  test('the status of another animal can be changed', async () => {
    const [ordered, petId] = [await addPet(store), await addPet(store)];
    await addOrder(store, ordered);
    expect((await updatePet(store, petId, { status: 'sold' })).status).toBe(200);
  });
});

test.each(['delivered', 'cancelled'] as const)(
  'the status can be changed once the order is %s',
  async (order) => {
    const petId = await addPet(store);
    await addOrder(store, petId, order);
    expect((await updatePet(store, petId, { status: null })).status).toBe(200);
    expect(await petStatus(store, petId)).toBeUndefined();
  },
);

test('of a concurrent order and change of the status, the later is refused', async () => {
  for (let round = 0; round < 10; round += 1) {
    const petId = await addPet(store);
    const [order, patch] = await Promise.all([
      store.placeOrder({ petId }),
      updatePet(store, petId, { status: 'sold' }),
    ]);
    expect([
      { order: 201, patch: 409, pet: 'pending' },
      { order: 409, patch: 200, pet: 'sold' },
    ]).toContainEqual({
      ...{ order: order.status, patch: patch.status },
      pet: await petStatus(store, petId),
    });
  }
});

test('the log has no field of a patch', async () => {
  await updatePet(store, await addPet(store), { name: 'SecretName' });
  expect(JSON.stringify(await store.logLines())).not.toContain('Secret');
});
