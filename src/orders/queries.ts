/** The SQL statements on orders. SQLite writes the JSON, as in pets/queries.ts. */
import { fencedTransaction, recordResponse, whereNotFenced } from '../d1/attempts.ts';
import { type Attempt, type Database, transaction } from '../d1/database.ts';
import {
  deleteExpired,
  type FirstRequest,
  type KeyedRequest,
  recordInsertedRow,
  whereKeyUnused,
} from '../d1/idempotency/queries.ts';
import { type PageQuery, type PageRow, selectPage } from '../http/paging.ts';
import type { NewRow } from '../http/responses.ts';
import type { OrderStatus } from './schema.ts';
import { TRANSITIONS } from './transitions.ts';

/** SQL expression: an order as JSON. */
const ORDER_JSON = `json_object('id', id, 'petId', pet_id, 'status', status, 'placedAt', placed_at)`;

export function selectOrders(db: Database, query: PageQuery): Promise<D1Result<PageRow>> {
  return selectPage(db, { table: 'orders', item: ORDER_JSON, filters: ['status'] }, query);
}

/** The order with this id: one row or none. */
export function selectOrder(db: Database, id: bigint): Promise<D1Result<{ json: string }>> {
  return db
    .prepare(`SELECT ${ORDER_JSON} AS json FROM orders WHERE id = CAST(?1 AS INTEGER)`)
    .bind(`${id}`)
    .all();
}

/** The placed order, `null` if it was not placed, and its pet. */
export type PlacedOrder = (NewRow | { id: null; json: null }) & {
  pet_exists: number;
  pet_status: string | null;
};

/**
 * Inserts the order of the pet that the preceding statement reserved. An available pet has an open order only if an operator
 * inserted one: then the pet stays reserved for that.
 */
function insertOrderIfReserved(db: Database, petId: bigint): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO orders (pet_id) SELECT CAST(?1 AS INTEGER)
       WHERE changes() = 1 AND NOT EXISTS (
         SELECT 1 FROM orders
         WHERE pet_id = CAST(?1 AS INTEGER) AND status IN ('placed', 'approved'))`,
    )
    .bind(`${petId}`);
}

/**
 * Reserves a pet and inserts its order. Of concurrent orders of one pet, only one finds it available, because D1 runs
 * transactions one after another.
 */
export function insertOrder(db: Database, petId: bigint): Promise<D1Result<PlacedOrder>> {
  const reserve = db
    .prepare(
      `UPDATE pets SET status = 'pending'
       WHERE id = CAST(?1 AS INTEGER) AND status = 'available'`,
    )
    .bind(`${petId}`);
  // One row, even if there is no order and no pet. The preceding INSERT placed the order, if it changed a row.
  const outcome = db
    .prepare(
      `SELECT CAST(placed.id AS TEXT) AS id, placed.json, pets.id IS NOT NULL AS pet_exists,
         pets.status AS pet_status
       FROM (SELECT 1)
       LEFT JOIN (SELECT id, ${ORDER_JSON} AS json FROM orders
         WHERE id = last_insert_rowid() AND changes() = 1) AS placed
       LEFT JOIN pets ON pets.id = CAST(?1 AS INTEGER)`,
    )
    .bind(`${petId}`);
  return transaction(db, [reserve, insertOrderIfReserved(db, petId)], outcome);
}

/**
 * As `insertOrder`, once for an idempotency key. An attempt that is refused leaves no record of the key, so attempts are
 * fenced: an earlier attempt must not place the order late.
 */
export function insertOrderOnce(
  db: Database,
  petId: bigint,
  request: KeyedRequest,
  attempt: Attempt,
): Promise<D1Result<PlacedOrder & FirstRequest>> {
  const reserve = db
    .prepare(
      `UPDATE pets SET status = 'pending'
       WHERE id = CAST(?1 AS INTEGER) AND status = 'available'
         AND ${whereKeyUnused('?2')} AND ${whereNotFenced('?3', '?4')}`,
    )
    .bind(`${petId}`, request.keyHash, attempt.requestId, attempt.number);
  const outcome = db
    .prepare(
      `SELECT CAST(json_extract(first.response, '$.id') AS TEXT) AS id, first.response AS json,
         first.body_hash, first.request_id, pets.id IS NOT NULL AS pet_exists,
         pets.status AS pet_status
       FROM (SELECT 1)
       LEFT JOIN idempotency_keys AS first ON first.key_hash = ?2
       LEFT JOIN pets ON pets.id = CAST(?1 AS INTEGER)`,
    )
    .bind(`${petId}`, request.keyHash);
  const changes = [
    deleteExpired(db, request),
    reserve,
    insertOrderIfReserved(db, petId),
    recordInsertedRow(db, request, 'orders', ORDER_JSON),
  ];
  return fencedTransaction(db, attempt, changes, outcome);
}

/**
 * The outcome of a PATCH: the body of the response of the attempt that succeeded, `null` if none did; and the order as it
 * is now, `null` if there is none.
 */
export type OrderChange = { response: string | null } & (
  | { current: string; current_status: OrderStatus }
  | { current: null; current_status: null }
);

/** Sets the status of an order, and of its pet, if `TRANSITIONS` allows that. */
export function changeOrder(
  db: Database,
  id: bigint,
  status: OrderStatus,
  attempt: Attempt,
): Promise<D1Result<OrderChange>> {
  const { from, petStatus } = TRANSITIONS[status];
  const { requestId, number } = attempt;
  const setOrder = db
    .prepare(
      `UPDATE orders SET status = ?2
       WHERE id = CAST(?1 AS INTEGER) AND status IN (SELECT value FROM json_each(?3))
         AND ${whereNotFenced('?4', '?5')}`,
    )
    .bind(`${id}`, status, JSON.stringify(from), requestId, number);
  const responseSql = `SELECT ${ORDER_JSON} FROM orders WHERE id = CAST(?1 AS INTEGER)`;
  const changes = [setOrder, recordResponse(db, attempt, id, responseSql)];
  if (petStatus) {
    // changes() is 1 if the preceding statement recorded a response, that is, only if the order changed.
    const setPet = db.prepare(
      `UPDATE pets SET status = ?2
       WHERE id = (SELECT pet_id FROM orders WHERE id = CAST(?1 AS INTEGER)) AND changes() = 1`,
    );
    changes.push(setPet.bind(`${id}`, petStatus));
  }
  const outcome = db
    .prepare(
      `SELECT write_attempts.response, current.json AS current, current.status AS current_status
       FROM (SELECT 1)
       LEFT JOIN write_attempts ON request_id = ?2
       LEFT JOIN (SELECT status, ${ORDER_JSON} AS json FROM orders
         WHERE id = CAST(?1 AS INTEGER)) AS current`,
    )
    .bind(`${id}`, requestId);
  return fencedTransaction(db, attempt, changes, outcome);
}
