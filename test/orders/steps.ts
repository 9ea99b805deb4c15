/** Steps shared by tests of animals and orders. */
import { expect } from 'vitest';
import { TABLES } from '../server.ts';
import type { Reply, Store } from '../store.ts';

export type Order = { id: number; petId: number; status: OrderStatus; placedAt: string };
export type OrderStatus = keyof typeof WAYS;

/** The statuses that a new order gets in turn until it has this one. */
const WAYS = {
  placed: [],
  approved: ['approved'],
  delivered: ['approved', 'delivered'],
  cancelled: ['cancelled'],
} as const;

/** Adds an animal, and returns its id. Default `available`; `null` for no status. */
export async function addPet(store: Store, status: string | null = 'available'): Promise<number> {
  const reply = await store.create({ name: 'Rex', categoryId: 3, ...(status && { status }) });
  expect(reply.status).toBe(201);
  return (reply.body as { id: number }).id;
}

export function updatePet(store: Store, petId: number | string, patch: unknown): Promise<Reply> {
  return store.send('PATCH', `/v1/pets/${petId}`, patch);
}

export function deletePet(store: Store, petId: number | string): Promise<Reply> {
  return store.fetch(`/v1/pets/${petId}`, { method: 'DELETE' });
}

/** The status of an animal; `undefined` without a status, 404 without the animal. */
export async function petStatus(store: Store, petId: number): Promise<string | number | undefined> {
  const { body } = await store.fetch(`/v1/pets/${petId}`);
  return (body as { status?: string | number }).status;
}

export function setStatus(store: Store, orderId: number, status: string): Promise<Reply> {
  return store.send('PATCH', `/v1/store/orders/${orderId}`, { status });
}

/** Orders an animal, and brings the order to this status. */
export async function addOrder(
  store: Store,
  petId: number,
  status: OrderStatus = 'placed',
): Promise<Order> {
  const placed = await store.placeOrder({ petId });
  expect(placed.status).toBe(201);
  const order = placed.body as Order;
  for (const next of WAYS[status]) {
    expect((await setStatus(store, order.id, next)).status).toBe(200);
  }
  return { ...order, status };
}

/** Everything in the database, as text. */
export async function contents(store: Store): Promise<string> {
  const { DB } = await store.bindings();
  const select = (table: string) => DB.prepare(`SELECT * FROM ${table} ORDER BY rowid`);
  const results = await DB.batch(TABLES.map(select));
  return JSON.stringify(results.map((result) => result.results));
}

/** Expects a request to leave the database as it is, and returns its reply. */
export async function expectUnchanged(store: Store, send: () => Promise<Reply>): Promise<Reply> {
  const before = await contents(store);
  const reply = await send();
  expect(await contents(store)).toBe(before);
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
  const ids = `WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < ${count})`;
  const status = (first: string, second: string, third: string, fourth: string) =>
    `CASE id % 4 WHEN 1 THEN '${first}' WHEN 2 THEN '${second}' WHEN 3 THEN '${third}' ELSE '${fourth}' END`;
  return store.exec(
    `${ids} INSERT INTO pets (id, name, category_id, status)
       SELECT id, 'Pet ' || id, id,
         iif(id = 7, NULL, ${status('pending', 'sold', 'available', 'pending')}) FROM ids;
     ${ids} INSERT INTO orders (id, pet_id, status)
       SELECT id, id, ${status('approved', 'delivered', 'cancelled', 'placed')} FROM ids`,
  );
}
