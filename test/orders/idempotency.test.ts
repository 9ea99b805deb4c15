/** `Idempotency-Key` with placeOrder. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { addPet, type Order, petStatus, setStatus } from './steps.ts';

const store = startStore();

const REPLAYED = 'idempotency-replayed';

function order(key: string, petId: number, authorization?: string) {
  return store.placeOrder(
    { petId },
    { headers: { 'idempotency-key': key, ...(authorization && { authorization }) } },
  );
}

async function orders(): Promise<Order[]> {
  return (await store.fetch('/v1/store/orders?limit=100')).body as Order[];
}

test('a retry gets the first response, byte for byte, and places no order', async () => {
  const [petId, other] = [await addPet(store), await addPet(store)];
  const first = await order('k', petId);
  expect([first.status, first.headers.has(REPLAYED)]).toEqual([201, false]);
  const again = await order('k', petId);
  expect([again.status, again.text, again.headers.get(REPLAYED)]).toEqual([
    201,
    first.text,
    'true',
  ]);
  expect(again.headers.get('location')).toBe(first.headers.get('location'));
  expect(await orders()).toEqual([first.body]);
  expect(await petStatus(store, other)).toBe('available');
});

test('fifty concurrent requests with one key place one order and get the same response', async () => {
  const petId = await addPet(store);
  const replies = await Promise.all(Array.from({ length: 50 }, () => order('k', petId)));
  const answers = replies.map(
    ({ status, text, headers }) => `${status} ${text} ${headers.get('location')}`,
  );
  expect(new Set(answers).size).toBe(1);
  expect(replies[0]?.status).toBe(201);
  expect(replies.filter(({ headers }) => headers.has(REPLAYED))).toHaveLength(49);
  expect(await orders()).toEqual([replies[0]?.body]);
});

test('of fifty concurrent keys for one animal exactly one places an order, and only it is recorded', async () => {
  const petId = await addPet(store);
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  const replies = await Promise.all(keys.map((key) => order(key, petId)));
  const winner = replies.findIndex(({ status }) => status === 201);
  const losers = replies.filter(
    ({ body }) => (body as { code?: string }).code === 'pet_not_available',
  );
  expect([winner >= 0, losers.length]).toEqual([true, 49]);
  const again = await order(`k${winner}`, petId);
  expect([again.text, again.headers.get(REPLAYED)]).toEqual([replies[winner]?.text, 'true']);
  expect((await order(`k${(winner + 1) % 50}`, petId)).status).toBe(409);
  expect(await orders()).toEqual([again.body]);
});

describe('a replay is the first response', () => {
  test('after the order has changed', async () => {
    const petId = await addPet(store);
    const first = await order('k', petId);
    const { id } = first.body as Order;
    await setStatus(store, id, 'approved');
    expect((await order('k', petId)).text).toBe(first.text);
    await setStatus(store, id, 'cancelled');
    expect((await order('k', petId)).text).toBe(first.text);
    expect(await orders()).toEqual([{ ...(first.body as Order), status: 'cancelled' }]);
    expect(await petStatus(store, petId)).toBe('available');
  });

  test('after the animal was deleted', async () => {
    const petId = await addPet(store);
    const first = await order('k', petId);
    await setStatus(store, (first.body as Order).id, 'cancelled');
    expect((await store.fetch(`/v1/pets/${petId}`, { method: 'DELETE' })).status).toBe(204);
    const again = await order('k', petId);
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  test('with every digit of the ids', async () => {
    const { DB } = await store.bindings();
    await DB.exec(
      "INSERT INTO pets (id, name, category_id, status) VALUES (-9223372036854775808, 'Rex', 1, 'available')",
    );
    await DB.exec(
      "INSERT INTO orders (id, pet_id, status) VALUES (9007199254740992, 1, 'cancelled')",
    );
    const send = (petId: string) =>
      store.placeOrder(`{"petId":${petId}}`, { headers: { 'idempotency-key': 'k' } });
    const first = await send('-9223372036854775808');
    expect(first.text).toMatch(/^\{"id":9007199254740993,"petId":-9223372036854775808,/);
    const again = await send('-9.223372036854775808e18');
    expect([again.text, again.headers.get(REPLAYED)]).toEqual([first.text, 'true']);
    expect(again.headers.get('location')).toMatch(/\/9007199254740993$/);
  });
});

test('another body is a 422, and changes nothing', async () => {
  const [petId, other] = [await addPet(store), await addPet(store)];
  const first = await order('k', petId);
  const reply = await order('k', other);
  expect([reply.status, reply.headers.has('location')]).toEqual([422, false]);
  expect(reply.body).toEqual({
    code: 'idempotency_key_reused',
    message: expect.any(String),
    status: 422,
  });
  expect(await orders()).toEqual([first.body]);
  expect(await petStatus(store, other)).toBe('available');
});

describe('a rejected order is not recorded: the same key succeeds later', () => {
  test('after a 404', async () => {
    expect((await order('k', 7)).status).toBe(404);
    const { DB } = await store.bindings();
    await DB.exec(
      "INSERT INTO pets (id, name, category_id, status) VALUES (7, 'Rex', 1, 'available')",
    );
    const reply = await order('k', 7);
    expect([reply.status, reply.headers.has(REPLAYED)]).toEqual([201, false]);
  });

  test('after a 409, even for another animal', async () => {
    const [sold, petId] = [await addPet(store, 'sold'), await addPet(store, 'pending')];
    expect((await order('k', sold)).status).toBe(409);
    expect((await order('k', petId)).status).toBe(409);
    await store.send('PATCH', `/v1/pets/${petId}`, { status: 'available' });
    const reply = await order('k', petId);
    expect([reply.status, reply.headers.has(REPLAYED)]).toEqual([201, false]);
  });

  test('after a 400', async () => {
    const petId = await addPet(store);
    const headers = { 'idempotency-key': 'k' };
    expect((await store.placeOrder({ petId: null }, { headers })).status).toBe(400);
    expect((await order('k', petId)).status).toBe(201);
  });
});

describe('a key belongs to', () => {
  test('one operation: createPet and placeOrder do not share it', async () => {
    const headers = { 'idempotency-key': 'k' };
    const pet = { name: 'Rex', categoryId: 3, status: 'available' };
    const created = await store.create(pet, { headers });
    const { id } = created.body as { id: number };
    const placed = await store.placeOrder({ petId: id }, { headers });
    expect([placed.status, placed.headers.has(REPLAYED)]).toEqual([201, false]);
    expect((await store.create(pet, { headers })).text).toBe(created.text);
    expect((await order('k', id)).text).toBe(placed.text);
  });

  test('one client', async () => {
    const [one, other] = [await addPet(store), await addPet(store)];
    const theirs = `Bearer ${await store.issueKey()}`;
    expect((await order('k', one)).status).toBe(201);
    const reply = await order('k', other, theirs);
    expect([reply.status, reply.headers.has(REPLAYED)]).toEqual([201, false]);
  });

  test('that client even after a rotation of its API key', async () => {
    const petId = await addPet(store);
    const before = `Bearer ${await store.issueKey({ id: 'key_1' })}`;
    const after = `Bearer ${await store.issueKey({ id: 'key_2', family: 'key_1' })}`;
    const first = await order('k', petId, before);
    expect((await order('k', petId, after)).text).toBe(first.text);
  });
});

test.each(['""', 'x'.repeat(256), 'é', 'k, l'])('the malformed key %j is a 400', async (key) => {
  const petId = await addPet(store);
  expect((await order(key, petId)).body).toMatchObject({ code: 'invalid_request', status: 400 });
  expect([await orders(), await petStatus(store, petId)]).toEqual([[], 'available']);
});
