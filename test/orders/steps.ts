/** Steps shared by tests of animals and orders. */
import { expect } from 'vitest';
import type { Reply, Store } from '../store.ts';

export type Order = { id: number; petId: number; status: string; placedAt: string };

/** Inserts an animal with each of these statuses: Rex of the category 3. The first one has the id 1. */
export function insertPets(store: Store, ...statuses: (string | null)[]): Promise<void> {
  return store.exec(
    `INSERT INTO pets (name, category_id, status)
     SELECT 'Rex', 3, value FROM json_each('${JSON.stringify(statuses)}')`,
  );
}

/** Inserts an order of an animal. The first one has the id 1. */
export function insertOrder(store: Store, petId: number, status: string): Promise<void> {
  return store.exec(`INSERT INTO orders (pet_id, status) VALUES (${petId}, '${status}')`);
}

export function updatePet(store: Store, petId: number | string, patch: unknown): Promise<Reply> {
  return store.send('PATCH', `/v1/pets/${petId}`, patch);
}

export function deletePet(store: Store, petId: number | string): Promise<Reply> {
  return store.fetch(`/v1/pets/${petId}`, { method: 'DELETE' });
}

export function updateOrder(store: Store, id: number | string, status: string): Promise<Reply> {
  return store.send('PATCH', `/v1/store/orders/${id}`, { status });
}

/** Everything in the database but times, a line for each row, such as `animal 1 Rex 3 sold` or `order 1 of 1 placed`. */
export async function contents(store: Store): Promise<string[]> {
  const { DB } = await store.bindings();
  const { results } = await DB.prepare(
    `SELECT 'animal ' || id || ' ' || name || ' ' || category_id || ifnull(' ' || status, '') AS line FROM pets
     UNION ALL SELECT 'order ' || id || ' of ' || pet_id || ' ' || status FROM orders
     UNION ALL SELECT 'key of ' || response || key_hash || body_hash || created_at FROM idempotency_keys
     ORDER BY line`,
  ).all<{ line: string }>();
  return results.map(({ line }) => line);
}

/** Expects a request to leave the database as it is, and returns its reply. */
export async function expectUnchanged(store: Store, send: () => Promise<Reply>): Promise<Reply> {
  const before = await contents(store);
  const reply = await send();
  expect(await contents(store)).toEqual(before);
  return reply;
}

export function expectError(reply: Reply, status: number, code: string, message: unknown): void {
  expect(reply.body).toEqual({ code, message, status });
  expect(reply.status).toBe(status);
}

/**
 * Adds `count` animals and an order of each, with the same id. From id 1 on, the orders are approved, delivered,
 * cancelled and placed in turn; the animals are pending, sold, available and pending, and the id 7 has no status.
 */
export function seedStore(store: Store, count: number): Promise<void> {
  return store.exec(
    `WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids LIMIT ${count})
       INSERT INTO pets (id, name, category_id, status)
       SELECT id, 'Pet ' || id, id, iif(id = 7, NULL, '["pending", "pending", "sold", "available"]' ->> (id % 4)) FROM ids;
     INSERT INTO orders (id, pet_id, status)
       SELECT id, id, '["placed", "approved", "delivered", "cancelled"]' ->> (id % 4) FROM pets`,
  );
}
