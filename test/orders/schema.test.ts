/** Constraints and defaults of the table of orders, which also hold for writers other than the service. */
import { describe, expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

async function insert(columns: string, values: string): Promise<void> {
  const { DB } = await store.bindings();
  await DB.prepare(`INSERT INTO orders (${columns}) VALUES (${values})`).run();
}

describe('at most one order of an animal is open', () => {
  test.each([
    ["'placed'", "'placed'"],
    ["'placed'", "'approved'"],
    ["'approved'", "'placed'"],
    ["'approved'", "'approved'"],
  ])('after %s, an insert of %s fails', async (first, second) => {
    await insert('pet_id, status', `7, ${first}`);
    await expect(insert('pet_id, status', `7, ${second}`)).rejects.toThrow(
      'UNIQUE constraint failed: orders.pet_id',
    );
    await insert('pet_id, status', `8, ${second}`);
  });

  test('delivered and cancelled orders do not count', async () => {
    for (const status of ['delivered', 'cancelled', 'delivered', 'cancelled', 'placed']) {
      await insert('pet_id, status', `7, '${status}'`);
    }
    const { DB } = await store.bindings();
    const reopening = DB.prepare(
      "UPDATE orders SET status = 'approved' WHERE status = 'delivered'",
    );
    await expect(reopening.run()).rejects.toThrow('UNIQUE constraint failed: orders.pet_id');
  });
});

test('an insert of only pet_id places an order now', async () => {
  const before = Date.now();
  await insert('pet_id', '7');
  const { body } = await store.fetch('/v1/store/orders');
  expect(body).toEqual([
    {
      id: 1,
      petId: 7,
      status: 'placed',
      placedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    },
  ]);
  const placedAt = Date.parse((body as { placedAt: string }[])[0]?.placedAt ?? '');
  expect(placedAt).toBeGreaterThanOrEqual(before);
  expect(placedAt).toBeLessThanOrEqual(Date.now());
});

test('an insert of every column stores that order', async () => {
  await insert('id, pet_id, status, placed_at', "5, 7, 'cancelled', '2026-11-20T09:30:00.000Z'");
  expect((await store.fetch('/v1/store/orders/5')).text).toBe(
    '{"id":5,"petId":7,"status":"cancelled","placedAt":"2026-11-20T09:30:00.000Z"}',
  );
});

test.each([
  ['a status that no order has', 'pet_id, status', "7, 'shipped'", 'CHECK constraint failed'],
  ['no animal', 'status', "'placed'", 'NOT NULL constraint failed'],
  ['an id past int64', 'pet_id', '9223372036854775808', 'cannot store REAL value'],
])('an insert with %s fails', async (_, columns, values, message) => {
  await expect(insert(columns, values)).rejects.toThrow(message);
});
