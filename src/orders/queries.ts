import type { Database } from '../d1/database.ts';
import { sql } from '../d1/sql.ts';
import { createOnce, type Once } from '../idempotency/create-once.ts';
import { petNotFound } from '../pets/errors.ts';
import type { PetStatus } from '../pets/schemas.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import type { NewOrder, Order, OrderQuery, OrderStatus } from './schemas.ts';
import { TRANSITIONS } from './transitions.ts';

const COLUMNS = sql`
  CAST(id AS TEXT) AS id_text, CAST(pet_id AS TEXT) AS pet_id_text, status, placed_at`;

type OrderRow = { id_text: string; pet_id_text: string; status: OrderStatus; placed_at: string };

function toOrder({ id_text, pet_id_text, status, placed_at }: OrderRow): Order {
  return { id: BigInt(id_text), petId: BigInt(pet_id_text), status, placedAt: placed_at };
}

export async function listOrders(
  db: Database,
  { limit, after, status }: OrderQuery,
): Promise<Order[]> {
  const hasStatus = status === undefined ? sql`TRUE` : sql`status = ${status}`;
  const isLater = after === undefined ? sql`TRUE` : sql`id > ${after}`;
  const [rows] = await db.run(
    sql<OrderRow>`SELECT ${COLUMNS} FROM orders
      WHERE ${hasStatus} AND ${isLater} ORDER BY id LIMIT ${limit}`,
  );
  return rows.map(toOrder);
}

export async function getOrder(db: Database, id: bigint): Promise<Order> {
  const [[row]] = await db.run(selectOrder(id));
  if (!row) throw orderNotFound(id);
  return toOrder(row);
}

/** D1 runs transactions one after another, so only one order finds the pet available. */
export function placeOrder(db: Database, once: Once, { petId }: NewOrder): Promise<Order> {
  const placedAt = new Date().toISOString();
  return createOnce(db, once, {
    into: 'orders',
    row: {
      // Without an available pet, the subquery is NULL, which the column rejects.
      pet_id: sql`(SELECT id FROM pets WHERE id = ${petId} AND status = 'available')`,
      status: 'placed',
      placed_at: placedAt,
    },
    item: { petId, status: 'placed', placedAt },
    followedBy: () => [sql`UPDATE pets SET status = 'pending' WHERE id = ${petId}`],
    // Also of the index `open_orders_by_pet`, if an operator has set the pet's status.
    refusal: {
      column: 'pet_id',
      read: sql<{ status: PetStatus | null }>`SELECT status FROM pets WHERE id = ${petId}`,
      error: (pet) => (pet ? petNotAvailable(petId, pet.status) : petNotFound(petId)),
    },
  });
}

/** Sets the status of an order, and of its pet, if `TRANSITIONS` allows that. */
export async function updateOrder(db: Database, id: bigint, status: OrderStatus): Promise<Order> {
  const { from, petStatus } = TRANSITIONS[status];
  // D1 binds no arrays, so the statuses are one JSON text.
  const canChange = sql`
    id = ${id} AND status IN (SELECT value FROM json_each(${JSON.stringify(from)}))`;
  const [_petUpdate, _orderUpdate, [order]] = await db.run(
    // The pet comes first, while the order still has its old status.
    sql`UPDATE pets SET status = ${petStatus}
      WHERE id = (SELECT pet_id FROM orders WHERE ${canChange}) AND ${petStatus} IS NOT NULL`,
    sql`UPDATE orders SET status = ${status} WHERE ${canChange}`,
    selectOrder(id),
  );
  if (!order) throw orderNotFound(id);
  // An order that had the status before is not changed, so a retry is harmless.
  if (order.status !== status) throw invalidTransition(order.status, status);
  return toOrder(order);
}

function selectOrder(id: bigint) {
  return sql<OrderRow>`SELECT ${COLUMNS} FROM orders WHERE id = ${id}`;
}
