/** The queries on orders. Each function returns named statements for `runQueries`, or a create for `createOnce`. */
import { type JsonText, sql } from '../d1/sql.ts';
import { equalsIfGiven, insertInto, selectPage, type Table } from '../d1/table.ts';
import type { PetStatus } from '../pets/schemas.ts';
import type { Order } from './description.ts';
import type { NewOrder, OrderQuery, OrderStatus } from './schemas.ts';
import { TRANSITIONS } from './transitions.ts';

const ORDERS = {
  name: sql`orders`,
  columns: ['pet_id'],
  json: sql`json_object('id', id, 'petId', pet_id, 'status', status, 'placedAt', placed_at)`,
} as const satisfies Table<Order>;

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
 */
export function placeOrder({ petId }: NewOrder) {
  return insertInto(
    ORDERS,
    { pet_id: petId },
    {
      reserve: {
        update: sql`UPDATE pets SET status = 'pending'`,
        where: sql`id = ${petId} AND status = 'available'`,
        read: sql<{ status: PetStatus | null }>`SELECT status FROM pets WHERE id = ${petId}`,
      },
      // By SQL, an operator can set the status of a pet with an open order to `available`. Then the reservation makes the pet pending
      // again, but the unique index `open_orders_by_pet` prevents a second open order: a 409.
      skipsConflict: true,
    },
  );
}

/** Sets the status of an order, and of its pet, if `TRANSITIONS` allows that. */
export function updateOrder(id: bigint, status: OrderStatus) {
  const { from, petStatus } = TRANSITIONS[status];
  // D1 binds no arrays, so the statuses are one JSON text.
  const updated = sql<{ json: JsonText<Order> }>`UPDATE orders SET status = ${status}
    WHERE id = ${id} AND status IN (SELECT value FROM json_each(${JSON.stringify(from)}))
    RETURNING ${ORDERS.json} AS json`;
  // Must follow `updated` directly (test/orders/update-order.test.ts): changes() is 1 if `updated` changed the order. Without a
  // `petStatus`, no pet is changed.
  const petUpdated = sql`UPDATE pets SET status = ${petStatus}
    WHERE id = (SELECT pet_id FROM orders WHERE id = ${id})
      AND changes() = 1 AND ${petStatus} IS NOT NULL`;
  const order = sql<{ status: OrderStatus; json: JsonText<Order> }>`
    SELECT status, ${ORDERS.json} AS json FROM orders WHERE id = ${id}`;
  return { updated, petUpdated, order };
}
