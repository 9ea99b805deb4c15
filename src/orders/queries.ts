/** The queries on orders. Each function returns named statements for `runQueries`. */
import { equalsIfGiven, selectInserted, selectPage, type Table } from '../d1/page.ts';
import { type JsonText, type Sql, sql } from '../d1/sql.ts';
import type { PetStatus } from '../pets/schemas.ts';
import type { Order } from './description.ts';
import type { NewOrder, OrderQuery, OrderStatus } from './schemas.ts';
import { TRANSITIONS } from './transitions.ts';

const ORDERS: Table<Order> = {
  name: sql`orders`,
  json: sql`json_object('id', id, 'petId', pet_id, 'status', status, 'placedAt', placed_at)`,
};

export function listOrders({ limit, after, status }: OrderQuery) {
  return { page: selectPage(ORDERS, { limit, after }, equalsIfGiven(sql`status`, status)) };
}

export function getOrder(id: bigint) {
  return {
    order: sql<{
      json: JsonText<Order>;
    }>`SELECT ${ORDERS.json} AS json FROM orders WHERE id = ${id}`,
  };
}

/**
 * Reserves a pet, and then inserts its order. D1 runs transactions one after another, so of concurrent orders of one pet only one
 * finds it available.
 *
 * @param keyIsUnused - the condition of `createOnce`: the idempotency key of the request, if it has one, is unused.
 */
export function placeOrder(keyIsUnused: Sql, { petId }: NewOrder) {
  const reserved = sql`UPDATE pets SET status = 'pending'
    WHERE id = ${petId} AND status = 'available' AND ${keyIsUnused}`;
  // For the error, if the pet was not reserved.
  const pet = sql<{ status: PetStatus | null }>`SELECT status FROM pets WHERE id = ${petId}`;
  // changes() counts the pets that `reserved` changed: the SELECT between them does not reset it.
  // ON CONFLICT: by SQL, an operator can set the status of a pet with an open order to `available`. Then `reserved` makes the pet
  // pending again, but the unique index `open_orders_by_pet` prevents a second open order: nothing is inserted, a 409.
  const inserted = sql`INSERT INTO orders (pet_id) SELECT ${petId} WHERE changes() = 1
    ON CONFLICT DO NOTHING`;
  return { reserved, pet, inserted, created: selectInserted(ORDERS) };
}

/** Sets the status of an order, and of its pet, if `TRANSITIONS` allows that. */
export function updateOrder(id: bigint, status: OrderStatus) {
  const { from, petStatus } = TRANSITIONS[status];
  // D1 binds no arrays, so the statuses are one JSON text.
  const updated = sql<{ json: JsonText<Order> }>`UPDATE orders SET status = ${status}
    WHERE id = ${id} AND status IN (SELECT value FROM json_each(${JSON.stringify(from)}))
    RETURNING ${ORDERS.json} AS json`;
  // Must follow `updated` directly: changes() is 1 if `updated` changed the order. Without a `petStatus`, no pet is changed.
  const petUpdated = sql`UPDATE pets SET status = ${petStatus}
    WHERE id = (SELECT pet_id FROM orders WHERE id = ${id})
      AND changes() = 1 AND ${petStatus} IS NOT NULL`;
  const order = sql<{ status: OrderStatus; json: JsonText<Order> }>`
    SELECT status, ${ORDERS.json} AS json FROM orders WHERE id = ${id}`;
  return { updated, petUpdated, order };
}
