/** A refused order closes its idempotency key, because an attempt that seemed lost may arrive later. */
import { expect, test } from 'vitest';
import { KEPT_MS } from '../../src/idempotency/create-once.ts';
import type { Fault } from '../faults/fault.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { type Reply, startStore } from '../support/store.ts';

const store = startStore({ faults: true });
const { insertPet, tableRows, expectUnchanged, updateOrder } = stepsOf(store);

const UNKNOWN = expect.stringContaining('It is unknown whether the request was carried out.');

/** Client A orders the pet 7 with the idempotency key `k`. These calls of D1 have faults. */
const place = (...faults: Fault[]) =>
  store.placeOrder(
    { petId: 7 },
    { headers: { 'idempotency-key': 'k', 'x-d1-fault': JSON.stringify(faults) } },
  );

/** Client B orders the pet, so A is refused. */
async function placeAsB() {
  await insertPet({ id: 7, status: 'available' });
  expect((await store.placeOrder({ petId: 7 }, { key: await store.issueKey() })).status).toBe(201);
}

/** Client B cancels. Then calls that work, after which the late attempts of A have arrived. */
async function cancelAsB() {
  expect((await updateOrder(1, 'cancelled')).status).toBe(200);
  for (let calls = 0; calls < 6; calls += 1) await store.fetch('/v1/pets/7');
}

function expectRefused(reply: Reply) {
  expectError(reply, 409, 'pet_not_available', 'The animal 7 is not available: it is pending.');
}

test('an attempt that arrives after the refusal of its retry places no order', async () => {
  await placeAsB();
  expectRefused(await place('runs later'));
  await cancelAsB();
  expect(await tableRows()).toMatchObject({
    pets: [{ status: 'available' }],
    orders: [{ id: 1, status: 'cancelled' }],
    idempotency_keys: [{ item_id: null }],
  });
  await expectUnchanged(async () => expectRefused(await place()));
});

test('an attempt of an earlier request that arrives after the refusal places no order', async () => {
  await placeAsB();
  const lost = await place('throws', 'runs later', 'throws');
  expectError(lost, 503, 'service_unavailable', UNKNOWN);
  expectRefused(await place());
  await cancelAsB();
  await expectUnchanged(async () => expectRefused(await place()));
  expect(await tableRows()).toMatchObject({ orders: [{ id: 1 }] });
});

test('a refusal closes the key of its own client alone', async () => {
  await placeAsB();
  expectRefused(await place());
  await cancelAsB();
  const own = { key: await store.issueKey(), headers: { 'idempotency-key': 'k' } };
  expect((await store.placeOrder({ petId: 7 }, own)).status).toBe(201);
});

test('a refusal is repeated for exactly as long as a response', async () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  await placeAsB();
  await store.fault({ now });
  expectRefused(await place());
  await cancelAsB();
  await store.fault({ now: now + KEPT_MS - 1 });
  expectRefused(await place());
  await store.fault({ now: now + KEPT_MS });
  const placed = await place();
  expect([placed.status, placed.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

test.each<{ faults: Fault[]; after: number }>([
  { faults: ['works', 'throws'], after: 201 },
  { faults: ['works', 'loses the response'], after: 409 },
  { faults: ['throws', 'works', 'throws'], after: 201 },
  { faults: ['throws', 'works', 'loses the response'], after: 409 },
])('a refusal whose record cannot be written is a 503: $faults', async (each) => {
  await placeAsB();
  expectError(await place(...each.faults), 503, 'service_unavailable', UNKNOWN);
  await cancelAsB();
  expect((await place()).status).toBe(each.after);
  expect((await tableRows()).idempotency_keys).toHaveLength(1);
});

test('of two requests with one key, both get the refusal of the first', async () => {
  await insertPet({ id: 7, status: 'pending' });
  const first = place('works', 'is held');
  await expect.poll(async () => (await store.calls()).held, { interval: 5 }).toBe(1);
  await store.exec("UPDATE pets SET status = 'available'");
  expectRefused(await place());
  await store.resetCalls();
  expectRefused(await first);
  expect(await tableRows()).toMatchObject({ orders: [] });
});
