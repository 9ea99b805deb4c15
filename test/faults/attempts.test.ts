/** Several attempts of one request: D1 reports an error for an attempt that it executes, at once or later. */
import { describe, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';
import { clientOf } from './client.ts';

const store = startStore({ faults: true });
const { addAnimal, contents, create, place, move, update, remove } = clientOf(store);

type Write = () => Promise<Reply>;

const toMax = () => update(1, { name: 'Max' });
const toMia = () => update(1, { name: 'Mia', status: 'pending' });
const toSold = () => update(1, { name: 'Max', status: 'sold' });
const removeIt = () => remove(1);
const createRex = () => create('Rex', 'k');
const createMax = () => create('Max', 'k');
const placeOrder = () => place(1, 'k');
const approve = () => move(1, 'approved');
const deliver = () => move(1, 'delivered');
const cancel = () => move(1, 'cancelled');

async function givenAnOrder(): Promise<void> {
  await addAnimal('pending');
  await store.exec('INSERT INTO orders (pet_id) VALUES (1)');
}
const CANCELLED = ['animal 1 is available', 'order 1 of 1 is cancelled'];

/*
 *  client A           service             D1              client B
 *     │── PATCH ─────────▶│── attempt 1 ────▶│ executes          │
 *     │                   │      ✗ ◀─────────│ response lost     │
 *     │                   │                  │◀──── DELETE ──────│
 *     │                   │                  │───── 204 ────────▶│
 *     │                   │── attempt 2 ────▶│ finds the record  │
 *     │◀─ 200, A's own ───│◀─────────────────│ of attempt 1      │
 */
describe('a write whose response was lost answers its own result', () => {
  /** The response to a write, when another client wrote between its two attempts. */
  async function answerOf(write: Write, writeOfB: Write) {
    await store.fault({ d1: ['is held, then throws'] });
    const answer = write();
    await expect.poll(async () => (await store.calls()).held, { interval: 5 }).toBe(1);
    expect((await writeOfB()).status).toBeLessThan(300);
    await store.fault({ release: true });
    const { status, body, headers } = await answer;
    // A replay is the response of an earlier request, not of an earlier attempt.
    expect(headers.has('idempotency-replayed')).toBe(false);
    return [status, body];
  }

  const MAX = { id: 1, name: 'Max', categoryId: 1, status: 'sold' };

  test('updatePet, when the animal was deleted since', async () => {
    await addAnimal('sold');
    expect(await answerOf(toMax, removeIt)).toEqual([200, MAX]);
  });

  test('updatePet, when the animal was changed since', async () => {
    await addAnimal('sold');
    expect(await answerOf(toMax, toMia)).toEqual([200, MAX]);
  });

  test('deletePet, when another animal was added since', async () => {
    await addAnimal('sold');
    expect(await answerOf(removeIt, createRex)).toEqual([204, undefined]);
  });

  test('createPet, when the animal was deleted since', async () => {
    const REX = { id: 1, name: 'Rex', categoryId: 1 };
    expect(await answerOf(createRex, removeIt)).toEqual([201, REX]);
  });

  test('placeOrder, when the order was cancelled since', async () => {
    await addAnimal('available');
    const placed = { id: 1, status: 'placed' };
    expect(await answerOf(placeOrder, cancel)).toMatchObject([201, placed]);
    expect(await contents()).toEqual(CANCELLED);
  });

  test('updateOrder, when the order was cancelled since', async () => {
    await givenAnOrder();
    const approved = { id: 1, petId: 1, status: 'approved' };
    expect(await answerOf(approve, cancel)).toMatchObject([200, approved]);
    expect(await contents()).toEqual(CANCELLED);
  });
});

/*
 *  client A           service             D1              client B
 *     │── DELETE ────────▶│── attempt 1 ────▶│ waits             │
 *     │                   │      ✗ ◀─────────│                   │
 *     │                   │── attempt 2 ────▶│ has an open order │
 *     │◀─ 409 ────────────│◀─────────────────│ (recorded)        │
 *     │                   │                  │◀──── cancel ──────│
 *     │                   │                  │ executes attempt 1: nothing may happen
 */
describe('an attempt that D1 executes after the request was refused does nothing', () => {
  /** Refuses a write at its second attempt; lets another client remove the reason; then D1 executes the first. */
  async function expectRefused(code: string, write: Write, writeOfB: Write) {
    await store.fault({ d1: ['runs late'] });
    expect((await write()).body).toMatchObject({ code });
    expect((await store.calls()).d1).toBe(2);
    expect((await writeOfB()).status).toBeLessThan(300);
    const before = await contents();
    await store.fault({ release: true });
    expect(await contents()).toEqual(before);
  }

  test.each([
    ['updatePet', 'pet_has_open_order', toSold],
    ['deletePet', 'pet_has_open_order', removeIt],
    ['placeOrder', 'pet_not_available', placeOrder],
  ])('%s: %s, and the order is then cancelled', async (_, code, write) => {
    await givenAnOrder();
    await expectRefused(code, write, cancel);
  });

  test('updateOrder: invalid_transition, and the status of the order then changes', async () => {
    await givenAnOrder();
    await expectRefused('invalid_transition', deliver, approve);
  });

  test.each([
    ['updatePet', toMax],
    ['deletePet', removeIt],
    ['placeOrder', placeOrder],
  ])('%s: pet_not_found, and the animal is then added', async (_, write) => {
    const body = { name: 'Rex', categoryId: 1, status: 'available' };
    await expectRefused('pet_not_found', write, () => store.create(body));
  });

  test('updateOrder: order_not_found, and the order is then placed', async () => {
    await addAnimal('available');
    await expectRefused('order_not_found', cancel, placeOrder);
  });

  test('createPet: idempotency_key_reused, and the animal is then deleted', async () => {
    await createRex();
    await expectRefused('idempotency_key_reused', createMax, removeIt);
  });
});

test('a refused placeOrder is not remembered: the same Idempotency-Key succeeds later', async () => {
  await addAnimal('sold');
  await store.fault({ d1: ['loses the response'] });
  expect((await placeOrder()).status).toBe(409);
  await update(1, { status: 'available' });
  const { status, headers } = await placeOrder();
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
});
