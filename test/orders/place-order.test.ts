import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { addPet, contents, type Order, petStatus, placeOrder } from './steps.ts';

const store = startStore();

async function insertPet(id: string, status: string | null): Promise<void> {
  const { DB } = await store.bindings();
  await DB.prepare("INSERT INTO pets (id, name, category_id, status) VALUES (?1, 'Rex', 1, ?2)")
    .bind(id, status)
    .run();
}

describe('an available animal', () => {
  test('is ordered: returns the order and its address, and the animal is pending', async () => {
    const petId = await addPet(store);
    const before = Date.now();
    const reply = await store.placeOrder({ petId });
    expect(reply.status).toBe(201);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body).toEqual({
      id: expect.any(Number),
      petId,
      status: 'placed',
      placedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    });
    const { id, placedAt } = reply.body as Order;
    expect(Date.parse(placedAt)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(placedAt)).toBeLessThanOrEqual(Date.now());
    const address = new URL(reply.headers.get('location') ?? '');
    expect([address.origin, address.pathname]).toEqual([store.url(), `/v1/store/orders/${id}`]);
    expect((await store.fetch(address.pathname)).text).toBe(reply.text);
    expect(await petStatus(store, petId)).toBe('pending');
  });

  test.each(['9007199254740993', '9223372036854775807', '-9223372036854775808', '0'])(
    'with the id %s keeps every digit',
    async (petId) => {
      await insertPet(petId, 'available');
      const reply = await store.placeOrder(`{"petId":${petId}}`);
      expect(reply.status).toBe(201);
      expect(reply.text).toContain(`,"petId":${petId},`);
      expect((await store.fetch(`/v1/pets/${petId}`)).body).toMatchObject({ status: 'pending' });
    },
  );

  test('may be given as any JSON number equal to its id', async () => {
    await insertPet('9007199254740993', 'available');
    await insertPet('9007199254740992', 'available');
    const reply = await store.placeOrder('{"petId":9.007199254740993e15}');
    expect(reply.text).toContain('"petId":9007199254740993,');
    expect((await store.fetch('/v1/pets/9007199254740992')).body).toMatchObject({
      status: 'available',
    });
  });

  test('can have an order with an id beyond 2^53, which is exact in the address', async () => {
    const petId = await addPet(store);
    const { DB } = await store.bindings();
    await DB.prepare(
      "INSERT INTO orders (id, pet_id, status) VALUES (9007199254740992, 77, 'cancelled')",
    ).run();
    const reply = await store.placeOrder({ petId });
    expect(reply.text).toMatch(/^\{"id":9007199254740993,/);
    expect(reply.headers.get('location')).toMatch(/\/v1\/store\/orders\/9007199254740993$/);
    const { text } = await store.fetch('/v1/store/orders/9007199254740993');
    expect(text).toBe(reply.text);
  });

  test('is the only animal that changes', async () => {
    const [other, petId] = [await addPet(store), await addPet(store)];
    await placeOrder(store, petId);
    expect(await petStatus(store, other)).toBe('available');
  });
});

describe('an animal that cannot be ordered', () => {
  test.each([
    { status: 'pending', current: 'its status is pending' },
    { status: 'sold', current: 'its status is sold' },
    { status: null, current: 'it has no status' },
  ])('$status: a 409 that says so and changes nothing', async ({ status, current }) => {
    const petId = await addPet(store, status);
    const before = await contents(store);
    const reply = await store.placeOrder({ petId });
    expect(reply.body).toEqual({
      code: 'pet_not_available',
      message: `The animal ${petId} is not available: ${current}.`,
      status: 409,
    });
    expect([reply.status, reply.headers.has('location')]).toEqual([409, false]);
    expect(await contents(store)).toBe(before);
  });

  test.each(['77', '0', '-1', '9223372036854775807', '-9223372036854775808'])(
    'no animal has the id %s: a 404 that changes nothing',
    async (petId) => {
      const before = await contents(store);
      const reply = await store.placeOrder(`{"petId":${petId}}`);
      expect(reply.body).toEqual({
        code: 'pet_not_found',
        message: `There is no animal with the id ${petId}.`,
        status: 404,
      });
      expect([reply.status, reply.headers.has('location')]).toEqual([404, false]);
      expect(await contents(store)).toBe(before);
    },
  );
});

test('of fifty concurrent orders for one animal exactly one is placed', async () => {
  const petId = await addPet(store);
  const replies = await Promise.all(Array.from({ length: 50 }, () => store.placeOrder({ petId })));
  const results = replies.map(({ status, body }) => [status, (body as { code?: string }).code]);
  expect(results.filter(([status]) => status === 201)).toHaveLength(1);
  expect(results.filter(([, code]) => code === 'pet_not_available')).toHaveLength(49);
  const { body } = await store.fetch('/v1/store/orders');
  expect(body).toEqual([replies.find(({ status }) => status === 201)?.body]);
  expect(await petStatus(store, petId)).toBe('pending');
});

test.each([[{}], [{ 'idempotency-key': 'k' }]])(
  'an available animal with an open order, which an operator inserted, is not ordered again: %j',
  async (headers) => {
    const petId = await addPet(store);
    const { DB } = await store.bindings();
    await DB.prepare('INSERT INTO orders (pet_id) VALUES (?1)').bind(petId).run();
    const reply = await store.placeOrder({ petId }, { headers });
    expect(reply.body).toMatchObject({ code: 'pet_not_available', status: 409 });
    expect(await petStatus(store, petId)).toBe('pending');
    expect((await store.fetch('/v1/store/orders')).body).toMatchObject([{ petId }]);
  },
);
