/** Several attempts of one request: D1 reports an error for an attempt that it executes, at once or later. */
import { describe, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';
import { clientOf } from './client.ts';

const store = startStore({ faults: true });
const { addAnimal, addOrder, contents, create, place, move, update, remove } = clientOf(store);

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
  async function withWriteOfB(write: () => Promise<Reply>, writeOfB: () => Promise<Reply>) {
    await store.fault({ d1: ['is held, then loses the response'] });
    const answer = write();
    await expect.poll(async () => (await store.calls()).held, { interval: 5 }).toBe(1);
    expect((await writeOfB()).status).toBeLessThan(300);
    await store.fault({ release: true });
    return answer;
  }

  const MAX = { id: 1, name: 'Max', categoryId: 1, status: 'sold' };
  const toMax = () => update(1, { name: 'Max' });
  const toMia = () => update(1, { name: 'Mia', status: 'pending' });
  const toAvailable = () => update(1, { status: 'available' });

  test.each([
    ['updatePet', 'the animal was deleted', toMax, () => remove(1), 200, MAX],
    ['updatePet', 'the animal was changed', toMax, toMia, 200, MAX],
    [
      'updatePet',
      'the animal was ordered',
      toAvailable,
      () => place(1),
      200,
      { status: 'available' },
    ],
    ['deletePet', 'another animal was added', () => remove(1), () => create('Rex'), 204, undefined],
    [
      'createPet',
      'the animal was deleted',
      () => create('Rex', 'k'),
      () => remove(2),
      201,
      { name: 'Rex' },
    ],
    [
      'createPet',
      'it was changed',
      () => create('Rex', 'k'),
      () => update(2, { name: 'Max' }),
      201,
      { name: 'Rex' },
    ],
  ])('%s, when %s since', async (_, __, write, writeOfB, status, body) => {
    await addAnimal('sold');
    const reply = await withWriteOfB(write, writeOfB);
    expect(reply.status).toBe(status);
    if (body) expect(reply.body).toMatchObject(body);
    else expect(reply.text).toBe('');
    // A replay is the response of an earlier request, not of an earlier attempt.
    expect(reply.headers.has('idempotency-replayed')).toBe(false);
  });

  test('updateOrder, when the order was cancelled since', async () => {
    await addAnimal('pending');
    await addOrder('placed');
    const approve = () => move(1, 'approved');
    const { status, body } = await withWriteOfB(approve, () => move(1, 'cancelled'));
    expect([status, body]).toMatchObject([200, { id: 1, petId: 1, status: 'approved' }]);
    expect(await contents()).toEqual(['animal 1 is available', 'order 1 of 1 is cancelled']);
  });

  test('placeOrder, when the order was cancelled since', async () => {
    await addAnimal('available');
    const { status, body } = await withWriteOfB(
      () => place(1, 'k'),
      () => move(1, 'cancelled'),
    );
    expect([status, body]).toMatchObject([201, { id: 1, status: 'placed' }]);
    expect(await contents()).toEqual(['animal 1 is available', 'order 1 of 1 is cancelled']);
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
  async function expectRefused(
    code: string,
    answer: Promise<Reply>,
    writeOfB: () => Promise<Reply>,
  ) {
    expect((await answer).body).toMatchObject({ code });
    expect((await store.calls()).d1).toBe(2);
    expect((await writeOfB()).status).toBeLessThan(300);
    const before = await contents();
    await store.fault({ release: true });
    expect(await contents()).toEqual(before);
  }

  describe('because of an open order, which is then cancelled', () => {
    test.each([
      ['updatePet', 'pet_has_open_order', () => update(1, { name: 'Max', status: 'sold' })],
      ['deletePet', 'pet_has_open_order', () => remove(1)],
      ['placeOrder', 'pet_not_available', () => place(1, 'k')],
    ])('%s', async (_, code, write) => {
      await addAnimal('pending');
      await addOrder('placed');
      await store.fault({ d1: ['runs late'] });
      await expectRefused(code, write(), () => move(1, 'cancelled'));
    });
  });

  test('because of the status of an order, which then changes: updateOrder', async () => {
    await addAnimal('pending');
    await addOrder('placed');
    await store.fault({ d1: ['runs late'] });
    await expectRefused('invalid_transition', move(1, 'delivered'), () => move(1, 'approved'));
  });

  test.each([
    ['updatePet', () => update(1, { name: 'Max' })],
    ['deletePet', () => remove(1)],
    ['placeOrder', () => place(1, 'k')],
  ])('because of an unknown animal, which is then added: %s', async (_, write) => {
    await store.fault({ d1: ['runs late'] });
    const body = { name: 'Rex', categoryId: 1, status: 'available' };
    await expectRefused('pet_not_found', write(), () => store.create(body));
  });

  test('because of an unknown order, which is then placed: updateOrder', async () => {
    await addAnimal('available');
    await store.fault({ d1: ['runs late'] });
    await expectRefused('order_not_found', move(1, 'cancelled'), () => place(1));
  });

  test('because of another body of the same Idempotency-Key: createPet', async () => {
    await create('Rex', 'k');
    await store.fault({ d1: ['runs late'] });
    await expectRefused('idempotency_key_reused', create('Max', 'k'), () => remove(1));
  });
});

describe('an attempt that D1 executes after another one succeeded does nothing', () => {
  test('updatePet, and another change since', async () => {
    await addAnimal('sold');
    await store.fault({ d1: ['runs late'] });
    expect((await update(1, { name: 'Max' })).body).toMatchObject({ name: 'Max' });
    await update(1, { name: 'Mia' });
    await store.fault({ release: true });
    expect(await contents()).toEqual(['animal Mia is sold']);
  });

  test('createPet with an Idempotency-Key', async () => {
    await store.fault({ d1: ['runs late'] });
    expect((await create('Rex', 'k')).status).toBe(201);
    await store.fault({ release: true });
    expect(await contents()).toEqual(['animal Rex is without status']);
  });

  test('placeOrder with an Idempotency-Key, and its order cancelled since', async () => {
    await addAnimal('available');
    await store.fault({ d1: ['runs late'] });
    expect((await place(1, 'k')).status).toBe(201);
    await move(1, 'cancelled');
    await store.fault({ release: true });
    expect(await contents()).toEqual(['animal 1 is available', 'order 1 of 1 is cancelled']);
  });
});

test('a placeOrder that was refused is not remembered: the same Idempotency-Key succeeds later', async () => {
  await addAnimal('sold');
  await store.fault({ d1: ['loses the response'] });
  expect((await place(1, 'k')).status).toBe(409);
  await update(1, { status: 'available' });
  const reply = await place(1, 'k');
  expect([reply.status, reply.headers.has('idempotency-replayed')]).toEqual([201, false]);
});
