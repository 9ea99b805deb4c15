/** The SQL statements on orders. SQLite writes the body of a response, as in pets/queries.ts. */
import type { CreatedRow } from '../d1/idempotency.ts';
import { equals, selectPage, type Table } from '../d1/page.ts';
import { type Sql, sql } from '../d1/sql.ts';
import type { PetStatus } from '../pets/schema.ts';
import type { NewOrder, OrderListParameters, OrderStatus } from './schema.ts';
import { TRANSITIONS } from './transitions.ts';

const ORDERS: Table = {
  name: sql`orders`,
  json: sql`json_object('id', id, 'petId', pet_id, 'status', status, 'placedAt', placed_at)`,
};

export function listOrders({ limit, after, status }: OrderListParameters) {
  return { page: selectPage(ORDERS, { limit, after }, [equals(sql`status`, status)]) };
}

export function getOrder(id: bigint) {
  return {
    order: sql<{ body: string }>`SELECT ${ORDERS.json} AS body FROM orders WHERE id = ${id}`,
  };
}

/**
 * Reserves a pet, and inserts its order. D1 runs transactions one after another, so of concurrent orders of one pet only one
 * finds it available.
 */
export function placeOrder(unused: Sql, { petId }: NewOrder) {
  const reserved = sql`UPDATE pets SET status = 'pending'
    WHERE id = ${petId} AND status = 'available' AND ${unused}`;
  // Shows why a pet is not reserved. A SELECT leaves changes() as it is: https://sqlite.org/lang_corefunc.html#changes
  const pet = sql<{ status: PetStatus | null }>`SELECT status FROM pets WHERE id = ${petId}`;
  // changes() is that of `reserved`. ON CONFLICT: a pet that an operator made available by hand can still have an open order.
  const insert = sql<CreatedRow>`INSERT INTO orders (pet_id) SELECT ${petId} WHERE changes() = 1
    ON CONFLICT DO NOTHING
    RETURNING CAST(id AS TEXT) AS id, ${ORDERS.json} AS body`;
  return { table: ORDERS, before: { reserved, pet }, insert };
}

/** Sets the status of an order, and of its pet, if `TRANSITIONS` allows that. */
export function updateOrder(id: bigint, status: OrderStatus) {
  const { from, petStatus } = TRANSITIONS[status];
  // D1 binds no arrays, so the statuses are one JSON text.
  const updated = sql<{ body: string }>`UPDATE orders SET status = ${status}
    WHERE id = ${id} AND status IN (SELECT value FROM json_each(${JSON.stringify(from)}))
    RETURNING ${ORDERS.json} AS body`;
  // changes() is that of `updated`.
  const petUpdated = sql`UPDATE pets SET status = ${petStatus}
    WHERE id = (SELECT pet_id FROM orders WHERE id = ${id})
      AND changes() = 1 AND ${petStatus} IS NOT NULL`;
  const order = sql<{ status: OrderStatus; body: string }>`
    SELECT status, ${ORDERS.json} AS body FROM orders WHERE id = ${id}`;
  return { updated, petUpdated, order };
}
