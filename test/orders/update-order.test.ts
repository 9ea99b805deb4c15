/** Every transition of an order from every status, and the resulting status of its animal. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { addPet, contents, type Order, petStatus, placeOrder, setStatus } from './steps.ts';

const store = startStore();

/** The transitions that lead from a new order to each status. */
const STEPS = {
  placed: [],
  approved: ['approved'],
  delivered: ['approved', 'delivered'],
  cancelled: ['cancelled'],
} as const;

describe('an allowed transition', () => {
  test.each([
    { from: 'placed', to: 'approved', pet: 'pending' },
    { from: 'placed', to: 'cancelled', pet: 'available' },
    { from: 'approved', to: 'delivered', pet: 'sold' },
    { from: 'approved', to: 'cancelled', pet: 'available' },
  ] as const)('$from → $to leaves the animal $pet', async ({ from, to, pet }) => {
    const other = await addPet(store);
    const petId = await addPet(store);
    const order = await placeOrder(store, petId, STEPS[from]);
    const reply = await setStatus(store, order.id, to);
    expect([reply.status, reply.body]).toEqual([200, { ...order, status: to }]);
    expect((await store.fetch(`/v1/store/orders/${order.id}`)).text).toBe(reply.text);
    expect([await petStatus(store, petId), await petStatus(store, other)]).toEqual([
      pet,
      'available',
    ]);
  });
});

describe('a transition to the status that the order already has', () => {
  test.each([
    { status: 'placed', pet: 'pending' },
    { status: 'approved', pet: 'pending' },
    { status: 'delivered', pet: 'sold' },
    { status: 'cancelled', pet: 'available' },
  ] as const)('$status → $status is a 200 that changes nothing', async ({ status, pet }) => {
    const petId = await addPet(store);
    const order = await placeOrder(store, petId, STEPS[status]);
    const before = await contents(store);
    const reply = await setStatus(store, order.id, status);
    expect([reply.status, reply.body]).toEqual([200, order]);
    expect(await contents(store)).toBe(before);
    expect(await petStatus(store, petId)).toBe(pet);
  });

  test.each(['delivered', 'cancelled'] as const)(
    '%s does not touch a later order of the animal',
    async (status) => {
      const petId = await addPet(store);
      const first = await placeOrder(store, petId, STEPS[status]);
      await store.send('PATCH', `/v1/pets/${petId}`, { status: 'available' });
      await placeOrder(store, petId);
      const before = await contents(store);
      expect((await setStatus(store, first.id, status)).status).toBe(200);
      expect(await contents(store)).toBe(before);
      expect(await petStatus(store, petId)).toBe('pending');
    },
  );
});

describe('a transition that is not allowed', () => {
  test.each([
    { from: 'placed', to: 'delivered', pet: 'pending' },
    { from: 'approved', to: 'placed', pet: 'pending' },
    { from: 'delivered', to: 'placed', pet: 'sold' },
    { from: 'delivered', to: 'approved', pet: 'sold' },
    { from: 'delivered', to: 'cancelled', pet: 'sold' },
    { from: 'cancelled', to: 'placed', pet: 'available' },
    { from: 'cancelled', to: 'approved', pet: 'available' },
    { from: 'cancelled', to: 'delivered', pet: 'available' },
  ] as const)('$from → $to is a 409 that changes nothing', async ({ from, to, pet }) => {
    const petId = await addPet(store);
    const order = await placeOrder(store, petId, STEPS[from]);
    const before = await contents(store);
    const reply = await setStatus(store, order.id, to);
    expect(reply.body).toEqual({
      code: 'invalid_transition',
      message: `The order is ${from}: it cannot become ${to}.`,
      status: 409,
    });
    expect(reply.status).toBe(409);
    expect(await contents(store)).toBe(before);
    expect(await petStatus(store, petId)).toBe(pet);
  });

  test.each(['placed', 'approved', 'delivered', 'cancelled'])(
    'of no order is a 404: %s',
    async (status) => {
      const reply = await setStatus(store, 77, status);
      expect(reply.body).toEqual({
        code: 'order_not_found',
        message: 'There is no order with the id 77.',
        status: 404,
      });
      expect(reply.status).toBe(404);
    },
  );
});

test('an animal can be ordered again after a cancelled order', async () => {
  const petId = await addPet(store);
  const first = await placeOrder(store, petId, ['approved', 'cancelled']);
  const second = await placeOrder(store, petId, ['approved', 'delivered']);
  expect(second.id).toBeGreaterThan(first.id);
  expect(await petStatus(store, petId)).toBe('sold');
});

test('the ids of an order are exact', async () => {
  const { DB } = await store.bindings();
  await DB.prepare(
    `INSERT INTO pets (id, name, category_id, status)
     VALUES (-9223372036854775808, 'Rex', 1, 'pending'), (-9223372036854775807, 'Max', 1, 'sold')`,
  ).run();
  await DB.prepare(
    `INSERT INTO orders (id, pet_id, status, placed_at)
     VALUES (9007199254740993, -9223372036854775808, 'placed', '2026-11-20T09:30:00.000Z')`,
  ).run();
  const path = '/v1/store/orders/9007199254740993';
  expect((await store.send('PATCH', path, { status: 'cancelled' })).text).toBe(
    '{"id":9007199254740993,"petId":-9223372036854775808,"status":"cancelled","placedAt":"2026-11-20T09:30:00.000Z"}',
  );
  expect((await store.fetch('/v1/pets?limit=2')).text).toBe(
    '[{"id":-9223372036854775808,"name":"Rex","categoryId":1,"status":"available"},{"id":-9223372036854775807,"name":"Max","categoryId":1,"status":"sold"}]',
  );
});

test('of a concurrent delivery and cancellation one succeeds, and the animal gets the matching status', async () => {
  for (let round = 0; round < 10; round += 1) {
    const petId = await addPet(store);
    const order = await placeOrder(store, petId, ['approved']);
    const [cancelled, delivered] = await Promise.all([
      setStatus(store, order.id, 'cancelled'),
      setStatus(store, order.id, 'delivered'),
    ]);
    const { body } = await store.fetch(`/v1/store/orders/${order.id}`);
    expect([
      [200, 409, 'cancelled', 'available'],
      [409, 200, 'delivered', 'sold'],
    ]).toContainEqual([
      cancelled.status,
      delivered.status,
      (body as Order).status,
      await petStatus(store, petId),
    ]);
  }
});
