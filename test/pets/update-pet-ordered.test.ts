/** updatePet of an animal with an order, or with a concurrent one. */
import { describe, expect, test } from 'vitest';
import { addPet, contents, petStatus, placeOrder, setStatus } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const update = (petId: number, patch: unknown) => store.send('PATCH', `/v1/pets/${petId}`, patch);

describe('while an order is open', () => {
  test.each([
    ['placed', [], { status: 'available' }],
    ['placed', [], { status: 'pending' }],
    ['placed', [], { status: 'sold', name: 'Max' }],
    ['placed', [], { status: null }],
    ['approved', ['approved'], { status: 'available' }],
    ['approved', ['approved'], { status: null, categoryId: 4 }],
  ])('(%s, after %j) the patch %j is a 409 that changes nothing', async (_, steps, patch) => {
    const petId = await addPet(store);
    await placeOrder(store, petId, steps);
    const before = await contents(store);
    const reply = await update(petId, patch);
    expect([reply.status, reply.body]).toEqual([
      409,
      {
        code: 'pet_has_open_order',
        message: `The animal ${petId} has an open order. Until the order is delivered or cancelled, its status cannot be set and it cannot be deleted.`,
        status: 409,
      },
    ]);
    expect(await contents(store)).toBe(before);
  });

  test('its name and category can be changed', async () => {
    const petId = await addPet(store);
    const { id } = await placeOrder(store, petId);
    const reply = await update(petId, { name: 'Max', categoryId: 4 });
    expect([reply.status, reply.body]).toEqual([
      200,
      { id: petId, name: 'Max', categoryId: 4, status: 'pending' },
    ]);
    expect((await setStatus(store, id, 'approved')).status).toBe(200);
    expect((await update(petId, { name: 'Tom' })).status).toBe(200);
  });

  test('the status of another animal can be changed', async () => {
    const [ordered, petId] = [await addPet(store), await addPet(store)];
    await placeOrder(store, ordered);
    expect((await update(petId, { status: 'sold' })).status).toBe(200);
  });

  test.each([
    ['delivered', ['approved', 'delivered']],
    ['cancelled', ['cancelled']],
  ])('and once it is %s, the status can be changed', async (_, steps) => {
    const petId = await addPet(store);
    await placeOrder(store, petId, steps);
    expect((await update(petId, { status: null })).status).toBe(200);
    expect(await petStatus(store, petId)).toBeUndefined();
  });
});

describe('concurrently with an order of the animal', () => {
  test('a status is set or rejected, and never lost', async () => {
    for (let round = 0; round < 10; round += 1) {
      const [one, other] = [await addPet(store), await addPet(store)];
      const [order, patch, laterPatch, laterOrder] = await Promise.all([
        store.placeOrder({ petId: one }),
        update(one, { status: 'sold' }),
        update(other, { status: 'sold' }),
        store.placeOrder({ petId: other }),
      ]);
      const outcomes = [
        { order: 201, patch: 409, pet: 'pending' },
        { order: 409, patch: 200, pet: 'sold' },
      ];
      const first = { order: order.status, patch: patch.status };
      const second = { order: laterOrder.status, patch: laterPatch.status };
      expect(outcomes).toContainEqual({ ...first, pet: await petStatus(store, one) });
      expect(outcomes).toContainEqual({ ...second, pet: await petStatus(store, other) });
    }
  });

  test('a name is set, and so is the status of the ordered animal', async () => {
    for (let round = 0; round < 5; round += 1) {
      const petId = await addPet(store);
      const [placed, updated] = await Promise.all([
        store.placeOrder({ petId }),
        update(petId, { name: 'Max' }),
      ]);
      expect([placed.status, updated.status]).toEqual([201, 200]);
      expect((await store.fetch(`/v1/pets/${petId}`)).body).toEqual({
        id: petId,
        ...{ name: 'Max', categoryId: 3, status: 'pending' },
      });
    }
  });
});
