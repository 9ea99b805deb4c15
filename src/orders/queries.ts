/** The SQL statements on orders. SQLite writes the body of a response, as in pets/queries.ts. */
import {
  type CreatedRow,
  type IdempotencyKey,
  recordFirst,
  removeExpired,
  whereUnused,
} from '../d1/idempotency.ts';
import { statement } from '../d1/run.ts';
import { type PageParameters, selectPage } from '../http/paging.ts';
import type { PetStatus } from '../pets/schema.ts';
import type { OrderStatus } from './schema.ts';
import { TRANSITIONS } from './transitions.ts';

/** SQL expression: an order as JSON. */
const ORDER_JSON = `json_object('id', id, 'petId', pet_id, 'status', status, 'placedAt', placed_at)`;

export function listOrders(parameters: PageParameters) {
  return { page: selectPage({ table: 'orders', item: ORDER_JSON }, parameters) };
}

export function getOrder(id: bigint) {
  const order = statement<{ body: string }>(
    `SELECT ${ORDER_JSON} AS body FROM orders WHERE id = CAST(?1 AS INTEGER)`,
    `${id}`,
  );
  return { order };
}

/**
 * Reserves a pet and inserts its order, unless the idempotency key was used before. D1 runs transactions one after
 * another, so of concurrent orders of one pet only one finds it available.
 */
export function placeOrder(petId: bigint, idempotencyKey: IdempotencyKey | undefined) {
  const reserved = statement(
    `UPDATE pets SET status = 'pending'
     WHERE id = CAST(?1 AS INTEGER) AND status = 'available' AND ${whereUnused('?2')}`,
    `${petId}`,
    idempotencyKey?.keyHash ?? null,
  );
  // A pet has at most one open order (unique index open_orders_by_pet). An operator may have set such a pet to available by
  // hand. Then this INSERT does nothing, the pet becomes pending, and the client gets a 409.
  const created = statement<CreatedRow>(
    `INSERT INTO orders (pet_id) SELECT CAST(?1 AS INTEGER) WHERE changes() = 1
     ON CONFLICT DO NOTHING
     RETURNING CAST(id AS TEXT) AS id, ${ORDER_JSON} AS body`,
    `${petId}`,
  );
  const pet = statement<{ status: PetStatus | null }>(
    'SELECT status FROM pets WHERE id = CAST(?1 AS INTEGER)',
    `${petId}`,
  );
  // In this order: `created` depends on changes() of `reserved`, and the record on that of `created`.
  return {
    ...removeExpired(idempotencyKey),
    reserved,
    created,
    ...recordFirst(idempotencyKey, { table: 'orders', responseSql: ORDER_JSON }),
    pet,
  };
}

/** Sets the status of an order, and of its pet, if `TRANSITIONS` allows that. */
export function changeOrder(id: bigint, status: OrderStatus) {
  const { from, petStatus } = TRANSITIONS[status];
  const changed = statement<{ body: string }>(
    `UPDATE orders SET status = ?2
     WHERE id = CAST(?1 AS INTEGER) AND status IN (SELECT value FROM json_each(?3))
     RETURNING ${ORDER_JSON} AS body`,
    `${id}`,
    status,
    JSON.stringify(from),
  );
  // changes() is 1 if the preceding statement changed the order.
  const petChanged = statement(
    `UPDATE pets SET status = ?2
     WHERE id = (SELECT pet_id FROM orders WHERE id = CAST(?1 AS INTEGER))
       AND changes() = 1 AND ?2 IS NOT NULL`,
    `${id}`,
    petStatus,
  );
  const order = statement<{ status: OrderStatus; body: string }>(
    `SELECT status, ${ORDER_JSON} AS body FROM orders WHERE id = CAST(?1 AS INTEGER)`,
    `${id}`,
  );
  return { changed, petChanged, order };
}
