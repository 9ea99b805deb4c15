/**
 * The SQL statements on pets. SQLite writes the JSON, because integers beyond 2^53 are rounded in rows read into
 * JavaScript. For the same reason integers are bound as decimal text, which a STRICT INTEGER column stores exactly.
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
 * A pet as JSON, with its fields in the order of the interface. A NULL status has no member: json_object cannot omit
 * members, and json_patch takes twice as long.
 */
const PET = `'{"id":' || id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id
  || iif(status IS NULL, '', ',"status":' || json_quote(status)) || '}'`;

export type PetRow = { json: string };

/** A page of pets: see `selectPage`. */
export function selectPets(db: Database, query: PageQuery): Promise<D1Result<PageRow>> {
  return selectPage(db, { table: 'pets', item: PET, columns: { status: 'status' } }, query);
}

/** The pet with this id: one row or none. */
export function selectPet(db: Database, id: bigint): Promise<D1Result<PetRow>> {
  return db
    .prepare(`SELECT ${PET} AS json FROM pets WHERE id = CAST(?1 AS INTEGER)`)
    .bind(`${id}`)
    .all<PetRow>();
}

/** Inserts a pet. */
export function petInsertion({ name, categoryId, status }: NewPet): Insertion {
  return {
    table: 'pets',
    insert: 'INSERT INTO pets (name, category_id, status) SELECT ?1, ?2, ?3 WHERE',
    values: [name, `${categoryId}`, status ?? null],
    json: PET,
  };
}

/** The pet after an update. */
export type Update = {
  json: string;
  /** 1 if this request changed it, else 0. */
  is_recorded: number;
};

/**
 * Sets the fields of a patch. The last result holds the pet, if it exists. While the pet has an open order, a patch
 * with a status changes nothing.
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
  // An open order determines the status of its pet.
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

/** The outcome of a deletion: 1 for true, 0 for false. */
export type Deletion = { is_recorded: number; is_found: number };

/**
 * Deletes a pet without an open order. The last result shows whether this request deleted it (`is_recorded`), and
 * whether the pet still exists (`is_found`).
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
