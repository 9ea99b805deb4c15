/**
 * Every SQL statement on animals. SQLite writes the JSON: int64 leaves it digit by digit, where a
 * row read into JavaScript would be rounded past 2^53. Integers go in as decimal text, for the same
 * reason: a STRICT INTEGER column stores it exactly.
 */
import type { Database } from '../database.ts';
import { type PageQuery, type PageRow, selectPage } from '../http/paging.ts';
import {
  type Insertion,
  recordChange,
  selectRecord,
  type WriteRecord,
} from '../idempotency/queries.ts';
import { openOrder } from '../orders/queries.ts';
import type { NewPet, PetPatch } from './schema.ts';

/**
 * One animal as JSON, in the order of the interface's table. An optional field that is NULL has no member:
 * json_object cannot leave one out, and json_patch, which can, takes twice the time.
 */
const PET = `'{"id":' || id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id
  || iif(status IS NULL, '', ',"status":' || json_quote(status)) || '}'`;

/** An animal as JSON. */
export type PetRow = { json: string };

/** A page of animals: see `selectPage`. */
export function selectPets(db: Database, query: PageQuery): Promise<D1Result<PageRow>> {
  return selectPage(db, { table: 'pets', item: PET, columns: { status: 'status' } }, query);
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

/** An animal that was to be changed. */
export type Update = {
  /** The animal as JSON, as it is afterwards. */
  json: string;
  /** 1 if this request changed it, else 0. */
  is_recorded: number;
};

/**
 * Sets the fields of a patch. The last result has the animal, if there is one. While an order of the animal
 * is open, nothing is changed if that includes the status.
 */
export function updatePet(
  db: Database,
  id: bigint,
  { name, categoryId, status }: PetPatch,
  record: WriteRecord,
): Promise<D1Result<Update>[]> {
  const columns: [column: string, value: string | null | undefined][] = [
    ['name', name],
    ['category_id', categoryId?.toString()],
    ['status', status],
  ];
  const set = columns.filter(([, value]) => value !== undefined);
  const assignments = set.map(([column], i) => `${column} = ?${i + 4}`).join(', ');
  // While an order is open, the animal's status belongs to the order.
  const guard = status === undefined ? '' : `AND NOT EXISTS (${openOrder})`;
  const { scope, requestId } = record;
  return db.batch<Update>([
    db
      .prepare(
        `UPDATE pets SET ${assignments}
         WHERE id = CAST(?1 AS INTEGER) ${guard} AND NOT EXISTS (${selectRecord})`,
      )
      .bind(`${id}`, scope, requestId, ...set.map(([, value]) => value)),
    recordChange(db, record),
    db
      .prepare(
        `SELECT ${PET} AS json, EXISTS (${selectRecord}) AS is_recorded
         FROM pets WHERE id = CAST(?1 AS INTEGER)`,
      )
      .bind(`${id}`, scope, requestId),
  ]);
}

/** An animal that was to be deleted: 1 for yes, 0 for no. */
export type Deletion = { is_recorded: number; is_found: number };

/**
 * Deletes an animal that has no open order. The last result says whether this request deleted it
 * (`is_recorded`), and whether there is such an animal (`is_found`).
 */
export function deletePet(
  db: Database,
  id: bigint,
  record: WriteRecord,
): Promise<D1Result<Deletion>[]> {
  return db.batch<Deletion>([
    db
      .prepare(`DELETE FROM pets WHERE id = CAST(?1 AS INTEGER) AND NOT EXISTS (${openOrder})`)
      .bind(`${id}`),
    recordChange(db, record),
    db
      .prepare(
        `SELECT EXISTS (${selectRecord}) AS is_recorded,
           EXISTS (SELECT 1 FROM pets WHERE id = CAST(?1 AS INTEGER)) AS is_found`,
      )
      .bind(`${id}`, record.scope, record.requestId),
  ]);
}
