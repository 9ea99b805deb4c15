/**
 * A refused order closes its idempotency key, because an attempt that seemed lost may arrive later.
 */
import { expect, test } from 'vitest';
import type { Fault } from '../faults/fault.ts';
import { expectError, type Reply, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore();

/** Client A orders the pet 7 with the idempotency key `k`. These calls of D1 have faults. */
const place = (...faults: Fault[]) =>
  store.placeOrder(
    { petId: 7 },
    { headers: { 'idempotency-key': 'k', 'x-d1-fault': JSON.stringify(faults) } },
  );

/** Client B orders the pet, so A is refused. */
async function placeAsB() {
  await store.insertPet({ id: 7, status: 'available' });
  expect((await store.placeOrder({ petId: 7 }, { key: await store.issueKey() })).status).toBe(201);
}

/** Client B cancels. Then calls that work, after which the late attempts of A have arrived. */
async function cancelAsB() {
  expect((await store.send('PATCH', '/v1/store/orders/1', { status: 'cancelled' })).status).toBe(
    200,
  );
  for (let calls = 0; calls < 6; calls += 1) await store.fetch('/v1/pets/7');
}

function expectRefused(reply: Reply) {
  const message = expect.stringMatching(/: it is pending\.$/);
  expectError(reply, 409, 'pet_not_available', message);
}

test('an attempt that arrives after the refusal of its retry places no order', async () => {
  await placeAsB();
  expectRefused(await place('runs later'));
  await cancelAsB();
  expect(await store.rows('pets')).toMatchObject([{ status: 'available' }]);
  expect(await store.rows('orders')).toMatchObject([{ id: 1, status: 'cancelled' }]);
  expect(await store.rows('idempotency_keys')).toMatchObject([{ item_id: null }]);
  await store.expectUnchanged(async () => expectRefused(await place()));
});

test('an order of an animal that does not exist closes its key, also for another body', async () => {
  expectError(await place(), 404, 'pet_not_found');
  const other = await store.placeOrder({ petId: 8 }, { headers: { 'idempotency-key': 'k' } });
  expectError(other, 422, 'idempotency_key_reused');
  await store.insertPet({ id: 7, status: 'available' });
  expectError(await place(), 404, 'pet_not_found');
});

test('a refusal is repeated for exactly a day, as a response is', async () => {
  await placeAsB();
  let now = Date.parse('2026-11-20T12:00:00Z');
  const placeAfter = async (ms: number) => {
    now += ms;
    await store.fault({ now });
    return place();
  };
  expectRefused(await placeAfter(0));
  await cancelAsB();
  expectRefused(await placeAfter(86_399_999));
  for (const [ms, replayed] of [
    [1, null],
    [86_399_999, 'true'],
  ] as const) {
    const { status, headers } = await placeAfter(ms);
    expect([status, headers.get('idempotency-replayed')]).toEqual([201, replayed]);
  }
  expectRefused(await placeAfter(1));
});

// The calls: the create, the read of its record, the write of the refusal.
test.each<[Fault[], number]>([
  [['works', 'throws'], 201],
  [['works', 'works', 'throws'], 201],
  [['works', 'works', 'loses the response'], 409],
  [['throws', 'works', 'works', 'throws'], 201],
])('a refusal whose record cannot be written is a 503: %j', async (faults, after) => {
  await placeAsB();
  // An attempt may arrive later.
  const message = expect.stringMatching(/unknown whether .+ same Idempotency-Key/);
  expectError(await place(...faults), 503, 'service_unavailable', message);
  await cancelAsB();
  expect((await place()).status).toBe(after);
  expect(await store.rows('idempotency_keys')).toHaveLength(1);
});

/**
 * Two requests of A. Before the second, a call of the first returns only later, and the pet is
 * available.
 */
async function placeTwice(...faults: Fault[]) {
  await store.insertPet({ id: 7, status: 'pending' });
  const first = place(...faults);
  await expect.poll(async () => (await store.calls()).held, { interval: 5 }).toBe(1);
  await store.exec("UPDATE pets SET status = 'available'");
  const second = await place();
  await store.fault({});
  return [await first, second] as const;
}

test('of two requests with one key, both get the refusal that the first has recorded', async () => {
  const replies = await placeTwice('works', 'works', 'is held');
  replies.forEach(expectRefused);
  expect(await store.rows('orders')).toEqual([]);
});

test('of two requests with one key, both get the order if the second records first', async () => {
  const [first, second] = await placeTwice('works', 'is held');
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.body).toEqual(second.body);
  expect(first.headers.get('idempotency-replayed')).toBe('true');
});
