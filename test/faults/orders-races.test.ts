/** Orders of many concurrent clients while responses of D1 are lost, and rejections, which a retry must not change. */
import { describe, expect, test } from 'vitest';
import { updateOrder } from '../../src/orders/queries.ts';
import { updatePet } from '../../src/pets/queries.ts';
import { startStore } from '../store.ts';
import { clientOf, RANDOM_FAULTS, untilAnswered } from './client.ts';
import type { D1Fault } from './d1.ts';

const store = startStore({ faults: true, env: 'staging' });
const { given, contents, place, move, update, remove } = clientOf(store);

const RETRIED: D1Fault[] = ['throws', 'loses the response'];

describe.each(RETRIED)('when D1 %s, the retry returns', (fault) => {
  test('a 404 for a deletePet of an unknown animal', async () => {
    await store.fault({ d1: [fault] });
    expect((await remove(1)).body).toMatchObject({ status: 404, code: 'pet_not_found' });
    expect((await store.calls()).d1).toBe(2);
  });

  test.each([
    ['a deletePet of an animal with an open order', 'pet_has_open_order', () => remove(1)],
    [
      'an updatePet of the status of an animal with an open order',
      'pet_has_open_order',
      () => update(1, { name: 'Max', status: 'sold' }),
    ],
    ['a placeOrder of the animal', 'pet_not_available', () => place(1, 'k')],
    ['an invalid transition', 'invalid_transition', () => move(1, 'delivered')],
  ])('a 409 for %s, and nothing is written', async (_, code, send) => {
    await given(['pending'], [[1, 'placed']]);
    await store.fault({ d1: [fault] });
    expect((await send()).body).toMatchObject({ status: 409, code });
    expect((await store.calls()).d1).toBe(2);
    expect(await contents()).toEqual(['animal 1 is pending', 'order 1 of 1 is placed']);
  });
});

test('a placeOrder that found no available animal is not recorded: the same key succeeds later', async () => {
  await given(['sold']);
  await store.fault({ d1: ['loses the response'] });
  expect((await place(1, 'k')).status).toBe(409);
  await update(1, { status: 'available' });
  const reply = await place(1, 'k');
  expect([reply.status, reply.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

describe('another attempt of a request whose response was lost', () => {
  const record = { scope: 'suite', requestId: 'request' };

  test('does not overwrite a later change of another client', async () => {
    await given(['sold']);
    const { DB } = await store.bindings();
    const attempt = () => updatePet(DB, 1n, { status: 'available' }, record);
    expect((await attempt()).at(-1)?.results[0]).toMatchObject({ is_recorded: 1 });
    expect((await place(1, 'k')).status).toBe(201);
    expect((await attempt()).at(-1)?.results[0]).toMatchObject({ is_recorded: 1 });
    expect(await contents()).toEqual(['animal 1 is pending', 'order 1 of 1 is placed']);
  });

  test('succeeds although another client has changed the order since', async () => {
    await given(['pending'], [[1, 'placed']]);
    const { DB } = await store.bindings();
    const attempt = () => updateOrder(DB, 1n, 'approved', record);
    expect((await attempt()).at(-1)?.results[0]).toMatchObject({ is_recorded: 1 });
    expect((await move(1, 'delivered')).status).toBe(200);
    const moved = { status: 'delivered', is_recorded: 1 };
    expect((await attempt()).at(-1)?.results[0]).toMatchObject(moved);
    expect(await contents()).toEqual(['animal 1 is sold', 'order 1 of 1 is delivered']);
  });
});

test('of 50 concurrent orders of one animal one succeeds while a third of the responses of D1 are lost', async () => {
  await given(['available']);
  // The first call places the order, and its client must send the request again.
  const d1AtRandom = { rate: 1 / 3, faults: ['loses the response' as const], seed: 3 };
  await store.fault({ d1: ['runs, then hangs'], d1AtRandom });
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, i) => untilAnswered(() => place(1, `client ${i}`))),
  );
  expect((await store.calls()).d1Faults).toBeGreaterThan(10);
  expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(49).fill(409)]);
  for (const { body } of replies.filter(({ status }) => status === 409)) {
    expect(body).toMatchObject({ code: 'pet_not_available' });
  }
  const placed = replies.find(({ status }) => status === 201);
  expect(placed?.headers.get('idempotency-replayed')).toBe('true');
  expect(await contents()).toEqual(['animal 1 is pending', 'order 1 of 1 is placed']);
});

test('50 concurrent orders of one animal without keys place one while a third of the responses of D1 are lost', async () => {
  await given(['available']);
  await store.fault({ d1AtRandom: { rate: 1 / 3, faults: ['loses the response'], seed: 4 } });
  const replies = await Promise.all(Array.from({ length: 50 }, () => place(1)));
  expect((await store.calls()).d1Faults).toBeGreaterThan(10);
  // The response to the order itself can be lost as well.
  expect(replies.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(1);
  expect(await contents()).toEqual(['animal 1 is pending', 'order 1 of 1 is placed']);
});

test('30 orders are delivered, 30 cancelled and 30 animals deleted, each once, while a fifth of the calls of D1 fail', async () => {
  const ids = Array.from({ length: 90 }, (_, i) => i + 1);
  const [delivered, cancelled, deleted] = [ids.slice(0, 30), ids.slice(30, 60), ids.slice(60)];
  await given(ids.map(() => 'available'));
  await store.fault({ d1AtRandom: { rate: 0.2, faults: RANDOM_FAULTS, seed: 5 } });

  async function order(petId: number): Promise<number> {
    const { status, body } = await untilAnswered(() => place(petId, `order of ${petId}`));
    expect(status).toBe(201);
    return (body as { id: number }).id;
  }
  async function moveTo(orderId: number, status: string): Promise<void> {
    expect((await untilAnswered(() => move(orderId, status))).body).toMatchObject({ status });
  }
  const orders = new Map<number, string>();
  await Promise.all([
    ...delivered.map(async (petId) => {
      const id = await order(petId);
      await moveTo(id, 'approved');
      await moveTo(id, 'delivered');
      orders.set(id, `order ${id} of ${petId} is delivered`);
    }),
    ...cancelled.map(async (petId) => {
      const id = await order(petId);
      await moveTo(id, 'cancelled');
      orders.set(id, `order ${id} of ${petId} is cancelled`);
    }),
    ...deleted.map(async (petId) => {
      // 404: an earlier request deleted it, and its response was a 503.
      expect([204, 404]).toContain((await untilAnswered(() => remove(petId))).status);
    }),
  ]);

  expect((await store.calls()).d1Faults).toBeGreaterThan(20);
  await store.fault({});
  expect(await contents()).toEqual([
    ...delivered.map((id) => `animal ${id} is sold`),
    ...cancelled.map((id) => `animal ${id} is available`),
    ...[...orders].sort(([a], [b]) => a - b).map(([, line]) => line),
  ]);
  expect(orders.size).toBe(60);
});
