/**
 * Every SQL statement on animals. SQLite writes the JSON: int64 leaves it digit by digit, where a
 * row read into JavaScript would be rounded past 2^53. Integers go in as decimal text, for the same
 * reason: a STRICT INTEGER column stores it exactly.
 */
import type { Database } from '../database.ts';
import { type PageQuery, type PageRow, selectPage } from '../http/paging.ts';
import type { Insertion } from '../idempotency/queries.ts';
import type { NewPet, PetPatch } from './schema.ts';

/** One animal as JSON, in the order of the interface's table; without a status there is no member. */
const PET = `CASE WHEN status IS NULL
  THEN json_object('id', id, 'name', name, 'categoryId', category_id)
  ELSE json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)
END`;

/** An animal as JSON. */
export type PetRow = { json: string };

/** A page of animals: see `selectPage`. */
export function selectPets(db: Database, query: PageQuery): Promise<D1Result<PageRow>> {
  return selectPage(db, { table: 'pets', item: PET }, query);
}

/** The animal with this id: one row or none. */
export function selectPet(db: Database, id: bigint): Promise<D1Result<PetRow>> {
  return db
    .prepare(`SELECT ${PET} AS json FROM pets WHERE id = CAST(?1 AS INTEGER)`)
    .bind(`${id}`)
    .all<PetRow>();
}

/** A new animal. */
export function petInsertion({ name, categoryId, status }: NewPet): Insertion {
  return {
    table: 'pets',
    insert: 'INSERT INTO pets (name, category_id, status) SELECT ?1, ?2, ?3 WHERE',
    values: [name, `${categoryId}`, status ?? null],
    json: PET,
  };
}

/** Whether an order of the animal ?1 is open: then its status belongs to the order. */
const hasOpenOrder = `EXISTS (
  SELECT 1 FROM orders WHERE pet_id = CAST(?1 AS INTEGER) AND status IN ('placed', 'approved'))`;

/**
 * Sets the fields of a patch. The first result has the animal, if it was changed; the second has a row if
 * there is such an animal. While an order of the animal is open, nothing is changed if that includes the
 * status.
 */
export function updatePet(
  db: Database,
  id: bigint,
  { name, categoryId, status }: PetPatch,
): Promise<D1Result<PetRow>[]> {
  const columns: [column: string, value: string | null | undefined][] = [
    ['name', name],
    ['category_id', categoryId?.toString()],
    ['status', status],
  ];
  const set = columns.filter(([, value]) => value !== undefined);
  const assignments = set.map(([column], i) => `${column} = ?${i + 2}`).join(', ');
  const guard = status === undefined ? '' : `AND NOT ${hasOpenOrder}`;
  return db.batch<PetRow>([
    db
      .prepare(
        `UPDATE pets SET ${assignments} WHERE id = CAST(?1 AS INTEGER) ${guard}
         RETURNING ${PET} AS json`,
      )
      .bind(`${id}`, ...set.map(([, value]) => value)),
    db.prepare(`SELECT '' AS json FROM pets WHERE id = CAST(?1 AS INTEGER)`).bind(`${id}`),
  ]);
}

/** What became of an animal that was to be deleted: 1 for yes, 0 for no. */
export type Deletion = { is_deleted: number; is_found: number };

/**
 * Deletes an animal that has no open order. The last result says what became of it. The record makes the
 * statement repeatable: when its answer was lost, another attempt of the same request finds the record, and
 * not just that the animal is gone.
 */
export function deletePet(
  db: Database,
  id: bigint,
  { scope, requestId }: { scope: string; requestId: string },
): Promise<D1Result<Deletion>[]> {
  return db.batch<Deletion>([
    db
      .prepare(`DELETE FROM pets WHERE id = CAST(?1 AS INTEGER) AND NOT ${hasOpenOrder}`)
      .bind(`${id}`),
    db
      .prepare(
        `INSERT INTO idempotency_keys (key_id, idempotency_key, created_at, body_hash, answer, request_id)
         SELECT ?1, ?2, ?3, '', '', ?2 WHERE changes() = 1`,
      )
      .bind(scope, requestId, Date.now()),
    db
      .prepare(
        `SELECT EXISTS (SELECT 1 FROM idempotency_keys WHERE key_id = ?2 AND idempotency_key = ?3) AS is_deleted,
           EXISTS (SELECT 1 FROM pets WHERE id = CAST(?1 AS INTEGER)) AS is_found`,
      )
      .bind(`${id}`, scope, requestId),
  ]);
}
