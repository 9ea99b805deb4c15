/** Steps shared by tests of orders and of animals with orders. */
import { expect } from 'vitest';
import type { Reply, Store } from '../store.ts';

export type Order = { id: number; petId: number; status: string; placedAt: string };

/** Adds an animal, and returns its id. Default `available`; `null` for no status. */
export async function addPet(store: Store, status: string | null = 'available'): Promise<number> {
  const body = { name: 'Rex', categoryId: 3, ...(status === null ? {} : { status }) };
  const reply = await store.create(body);
  expect(reply.status).toBe(201);
  return (reply.body as { id: number }).id;
}

/** The status of an animal; `undefined` without a status, 404 without the animal. */
export async function petStatus(store: Store, petId: number): Promise<string | number | undefined> {
  const { body } = await store.fetch(`/v1/pets/${petId}`);
  return (body as { status?: string | number }).status;
}

/** Sets the status of an order. */
export function setStatus(store: Store, orderId: number, status: string): Promise<Reply> {
  return store.send('PATCH', `/v1/store/orders/${orderId}`, { status });
}

/** Orders an animal, and sets the order to each of these statuses in turn. */
export async function placeOrder(
  store: Store,
  petId: number,
  statuses: readonly string[] = [],
): Promise<Order> {
  const placed = await store.placeOrder({ petId });
  expect(placed.status).toBe(201);
  const order = placed.body as Order;
  for (const status of statuses) {
    expect((await setStatus(store, order.id, status)).status).toBe(200);
  }
  return { ...order, status: statuses.at(-1) ?? order.status };
}

/** Everything in the database, as text. */
export async function contents(store: Store): Promise<string> {
  const { DB } = await store.bindings();
  const tables = ['pets', 'orders', 'idempotency_keys'];
  const results = await DB.batch(
    tables.map((table) => DB.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`)),
  );
  return JSON.stringify(results.map((result) => result.results));
}

/** Adds `count` animals with one order each. The orders have each status in turn, and the animals' statuses match. */
export async function seedOrders(store: Store, count: number): Promise<void> {
  const { DB } = await store.bindings();
  const numbers = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)';
  await DB.batch([
    DB.prepare(
      `${numbers} INSERT INTO pets (id, name, category_id, status)
       SELECT i, 'Pet ' || i, i, CASE i % 4 WHEN 2 THEN 'sold' WHEN 3 THEN 'available' ELSE 'pending' END FROM n`,
    ).bind(count),
    DB.prepare(
      `${numbers} INSERT INTO orders (id, pet_id, status)
       SELECT i, i, CASE i % 4 WHEN 0 THEN 'placed' WHEN 1 THEN 'approved' WHEN 2 THEN 'delivered' ELSE 'cancelled' END FROM n`,
    ).bind(count),
  ]);
}
