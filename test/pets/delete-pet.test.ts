import { describe, expect, test } from 'vitest';
import { addPet, contents, type Order, petStatus, placeOrder } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const remove = (petId: number | string) => store.fetch(`/v1/pets/${petId}`, { method: 'DELETE' });

test('an animal is deleted: a 204 without a body, then a 404', async () => {
  const [other, petId] = [await addPet(store), await addPet(store)];
  const reply = await remove(petId);
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
  const again = await remove(petId);
  expect([again.status, again.body]).toEqual([
    404,
    { code: 'pet_not_found', message: `There is no animal with the id ${petId}.`, status: 404 },
  ]);
  expect((await store.fetch(`/v1/pets/${petId}`)).status).toBe(404);
  const patch = await store.send('PATCH', `/v1/pets/${petId}`, { name: 'Max' });
  expect(patch.status).toBe(404);
  expect((await store.placeOrder({ petId })).body).toMatchObject({ code: 'pet_not_found' });
  expect((await store.fetch('/v1/pets')).body).toMatchObject([{ id: other }]);
});

test.each(['available', 'pending', 'sold', null])(
  'an animal with the status %s can be deleted',
  async (status) => {
    expect((await remove(await addPet(store, status))).status).toBe(204);
    expect((await store.fetch('/v1/pets')).text).toBe('[]');
  },
);

test('adjacent ids beyond 2^53 are distinct', async () => {
  const { DB } = await store.bindings();
  const ids = ['9007199254740992', '9007199254740993', '9007199254740994'];
  for (const id of ids) {
    await DB.prepare("INSERT INTO pets (id, name, category_id) VALUES (?1, 'Rex', 1)")
      .bind(id)
      .run();
  }
  expect((await remove('9007199254740993')).status).toBe(204);
  expect((await store.fetch('/v1/pets')).text).toBe(
    '[{"id":9007199254740992,"name":"Rex","categoryId":1},{"id":9007199254740994,"name":"Rex","categoryId":1}]',
  );
});

test.each(['77', '0', '-1', '-9223372036854775808'])(
  'the unknown id %s is a 404, and nothing is written',
  async (petId) => {
    await addPet(store);
    const before = await contents(store);
    expect((await remove(petId)).body).toMatchObject({ code: 'pet_not_found', status: 404 });
    expect(await contents(store)).toBe(before);
  },
);

test.each(['abc', '1.5', '9223372036854775808', '1?force=1'])(
  '%s is a 400, and nothing is written',
  async (petId) => {
    await addPet(store);
    const before = await contents(store);
    expect((await remove(petId)).body).toMatchObject({ code: 'invalid_request', status: 400 });
    expect(await contents(store)).toBe(before);
  },
);

test.each([
  ['of JSON', '{"name":"Rex"}'],
  ['that is not JSON', '{'],
  ['larger than 16 KiB', 'x'.repeat(100_000)],
])('a body %s is ignored', async (_, body) => {
  const petId = await addPet(store);
  const reply = await store.fetch(`/v1/pets/${petId}`, { method: 'DELETE', body });
  expect(reply.status).toBe(204);
});

test('ids are not reused', async () => {
  const first = await addPet(store);
  const newest = await addPet(store);
  await remove(newest);
  const next = await addPet(store);
  expect(next).toBeGreaterThan(newest);
  for (const petId of [first, next]) await remove(petId);
  expect(await addPet(store)).toBeGreaterThan(next);
});

test('a repeated create with an idempotency key does not restore a deleted animal', async () => {
  const headers = { 'idempotency-key': 'k' };
  const created = await store.create({ name: 'Rex', categoryId: 3 }, { headers });
  await remove((created.body as { id: number }).id);
  expect((await store.create({ name: 'Rex', categoryId: 3 }, { headers })).text).toBe(created.text);
  expect((await store.fetch('/v1/pets')).text).toBe('[]');
});

describe('an animal with orders', () => {
  test.each([
    ['placed', []],
    ['approved', ['approved']],
  ])('is not deleted while one is %s', async (_, steps) => {
    const petId = await addPet(store);
    await placeOrder(store, petId, steps);
    const before = await contents(store);
    const reply = await remove(petId);
    expect([reply.status, reply.body]).toEqual([
      409,
      { code: 'pet_has_open_order', message: expect.any(String), status: 409 },
    ]);
    expect(await contents(store)).toBe(before);
  });

  test.each([
    ['delivered', ['approved', 'delivered']],
    ['cancelled', ['approved', 'cancelled']],
  ])('is deleted after one was %s, and the order keeps its petId', async (_, steps) => {
    const petId = await addPet(store);
    const order = await placeOrder(store, petId, steps);
    expect((await remove(petId)).status).toBe(204);
    expect((await store.fetch(`/v1/store/orders/${order.id}`)).body).toEqual(order);
    expect((await store.fetch('/v1/store/orders')).body).toEqual([order]);
  });

  test('stays deleted when its orders change', async () => {
    const petId = await addPet(store);
    const { id } = await placeOrder(store, petId, ['cancelled']);
    await remove(petId);
    const path = `/v1/store/orders/${id}`;
    expect((await store.send('PATCH', path, { status: 'cancelled' })).status).toBe(200);
    expect((await store.send('PATCH', path, { status: 'approved' })).status).toBe(409);
    expect(await petStatus(store, petId)).toBe(404);
  });

  test('does not prevent the deletion of another', async () => {
    const [ordered, petId] = [await addPet(store), await addPet(store)];
    await placeOrder(store, ordered);
    expect((await remove(petId)).status).toBe(204);
  });
});

test('of a concurrent delete and order, one succeeds', async () => {
  for (let round = 0; round < 10; round += 1) {
    const [one, other] = [await addPet(store), await addPet(store)];
    const [order, deletion, laterDeletion, laterOrder] = await Promise.all([
      store.placeOrder({ petId: one }),
      remove(one),
      remove(other),
      store.placeOrder({ petId: other }),
    ]);
    const outcomes = [
      { order: 201, deletion: 409, pet: 'pending' },
      { order: 404, deletion: 204, pet: 404 },
    ];
    const first = { order: order.status, deletion: deletion.status };
    const second = { order: laterOrder.status, deletion: laterDeletion.status };
    expect(outcomes).toContainEqual({ ...first, pet: await petStatus(store, one) });
    expect(outcomes).toContainEqual({ ...second, pet: await petStatus(store, other) });
  }
  const placed = (await store.fetch('/v1/store/orders?limit=100')).body as Order[];
  for (const { petId } of placed) expect(await petStatus(store, petId)).toBe('pending');
});

test('of twenty concurrent deletes, one is a 204', async () => {
  const petId = await addPet(store);
  const replies = await Promise.all(Array.from({ length: 20 }, () => remove(petId)));
  const statuses = replies.map(({ status }) => status).sort();
  expect(statuses).toEqual([204, ...Array(19).fill(404)]);
});
