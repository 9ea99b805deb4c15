import { expect, test } from 'vitest';
import { startStore } from '../store.ts';
import { addPet, placeOrder } from './steps.ts';

const store = startStore();

const INT64 = 'orderId: must be an integer from -9223372036854775808 to 9223372036854775807';

test('returns the order', async () => {
  await placeOrder(store, await addPet(store));
  const order = await placeOrder(store, await addPet(store), ['approved', 'delivered']);
  const reply = await store.fetch(`/v1/store/orders/${order.id}`);
  expect([reply.status, reply.body]).toEqual([200, order]);
  expect(reply.headers.get('content-type')).toBe('application/json');
  expect(reply.headers.has('deprecation')).toBe(false);
});

test('distinguishes adjacent ids beyond 2^53', async () => {
  const { DB } = await store.bindings();
  const rest = '"status":"cancelled","placedAt":"2026-11-20T09:30:00.000Z"';
  for (const id of ['9007199254740992', '9007199254740993', '-9223372036854775808']) {
    await DB.prepare(
      `INSERT INTO orders (id, pet_id, status, placed_at)
       VALUES (?1, ?1, 'cancelled', '2026-11-20T09:30:00.000Z')`,
    )
      .bind(id)
      .run();
    const { text } = await store.fetch(`/v1/store/orders/${id}`);
    expect(text).toBe(`{"id":${id},"petId":${id},${rest}}`);
  }
});

test.each(['77', '-1', '0', '-0', '9223372036854775807', '-9223372036854775808'])(
  'the id %s, which no order has, is not found',
  async (orderId) => {
    const reply = await store.fetch(`/v1/store/orders/${orderId}`);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({
      code: 'order_not_found',
      message: `There is no order with the id ${BigInt(orderId)}.`,
      status: 404,
    });
  },
);

test.each([
  'abc',
  '1.5',
  '1e3',
  '+1',
  '-',
  '%201',
  '1%2F2',
  '9223372036854775808',
  '-9223372036854775809',
])('the id %s is a 400 of getOrder and updateOrder', async (orderId) => {
  const path = `/v1/store/orders/${orderId}`;
  for (const reply of [
    await store.fetch(path),
    await store.send('PATCH', path, { status: 'approved' }),
  ]) {
    expect(reply.body).toEqual({ code: 'invalid_request', message: INT64, status: 400 });
    expect(reply.status).toBe(400);
  }
});

test('a query is a 400', async () => {
  const { id } = await placeOrder(store, await addPet(store));
  expect((await store.fetch(`/v1/store/orders/${id}?limit=1`)).body).toEqual({
    code: 'invalid_request',
    message: 'limit: is not a known parameter',
    status: 400,
  });
});
