/** The SQL statements on orders. SQLite writes the JSON, as in pets/queries.ts. */
import type { Database } from '../database.ts';
import { type PageQuery, type PageRow, selectPage } from '../http/paging.ts';
import {
  type Insertion,
  recordChange,
  selectRecord,
  type WriteRecord,
} from '../idempotency/queries.ts';
import type { NewOrder, OrderStatus } from './schema.ts';

const ORDER = `json_object('id', id, 'petId', pet_id, 'status', status, 'placedAt', placed_at)`;

/** An order: its JSON and its status. */
export type OrderRow = { json: string; status: OrderStatus };

/** A page of orders: see `selectPage`. */
export function selectOrders(db: Database, query: PageQuery): Promise<D1Result<PageRow>> {
  return selectPage(db, { table: 'orders', item: ORDER, columns: { status: 'status' } }, query);
}

/** The order with this id: one row or none. */
export function selectOrder(db: Database, id: bigint): Promise<D1Result<OrderRow>> {
  return db
    .prepare(`SELECT ${ORDER} AS json, status FROM orders WHERE id = CAST(?1 AS INTEGER)`)
    .bind(`${id}`)
    .all<OrderRow>();
}

/** The pet of an order that was not inserted. */
export type UnavailablePet = { status: string | null };

/** Selects the open order of a row of `pets`. */
export const openOrder =
  "SELECT 1 FROM orders WHERE pet_id = pets.id AND status IN ('placed', 'approved')";

/**
 * Inserts an order of an available pet, and sets the pet's status to pending. The last effect selects the pet. Of
 * concurrent orders of one pet, only one finds it available, because D1 runs transactions one after another.
 */
export function orderInsertion(db: Database, { petId }: NewOrder): Insertion {
  const id = `${petId}`;
  return {
    table: 'orders',
    insert: `INSERT INTO orders (pet_id)
      SELECT id FROM pets WHERE id = CAST(?1 AS INTEGER) AND status = 'available'
        AND NOT EXISTS (${openOrder}) AND`,
    values: [id],
    json: ORDER,
    effects: [
      // An available pet has an open order only after the previous statement, or if an operator inserted one.
      db
        .prepare(
          `UPDATE pets SET status = 'pending' WHERE id = CAST(?1 AS INTEGER) AND status = 'available'
             AND EXISTS (${openOrder})`,
        )
        .bind(id),
      db.prepare('SELECT status FROM pets WHERE id = CAST(?1 AS INTEGER)').bind(id),
    ],
  };
}

/** For each status: the statuses from which an order can change to it, and the pet's status after that. */
const TRANSITIONS: Record<OrderStatus, { from: OrderStatus[]; pet?: string }> = {
  placed: { from: [] },
  approved: { from: ['placed'] },
  delivered: { from: ['approved'], pet: 'sold' },
  cancelled: { from: ['placed', 'approved'], pet: 'available' },
};

/** The order after an update; `is_recorded` is 1 if this request changed it, else 0. */
export type Update = OrderRow & { is_recorded: number };

/** Sets the status of an order, and of its pet. The last result holds the order, if it exists. */
export function updateOrder(
  db: Database,
  id: bigint,
  status: OrderStatus,
  record: WriteRecord,
): Promise<D1Result<Update>[]> {
  const { from, pet } = TRANSITIONS[status];
  const allowed = from.map((each) => `'${each}'`).join(', ');
  const updatePet = db
    .prepare(
      `UPDATE pets SET status = ?2 WHERE id = (
         SELECT pet_id FROM orders WHERE id = CAST(?1 AS INTEGER) AND status IN (${allowed}))`,
    )
    .bind(`${id}`, pet ?? null);
  return db.batch<Update>([
    // The pet first: its condition depends on the order's old status.
    ...(pet ? [updatePet] : []),
    db
      .prepare(
        `UPDATE orders SET status = ?2 WHERE id = CAST(?1 AS INTEGER) AND status IN (${allowed})`,
      )
      .bind(`${id}`, status),
    recordChange(db, record),
    db
      .prepare(
        `SELECT ${ORDER} AS json, status, EXISTS (${selectRecord}) AS is_recorded
         FROM orders WHERE id = CAST(?1 AS INTEGER)`,
      )
      .bind(`${id}`, record.scope, record.requestId),
  ]);
}
