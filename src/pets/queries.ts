/**
 * The SQL statements on pets. SQLite writes the JSON, because integers beyond 2^53 are rounded in rows read into
 * JavaScript. For the same reason integers are bound as decimal text, which a STRICT INTEGER column stores exactly.
 */
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
import type { NewPet, PetPatch } from './schema.ts';

/**
 * SQL expression: a pet as JSON, with its fields in the order of the interface. A NULL status is omitted: json_object cannot
 * omit members, and json_patch takes twice as long.
 */
const PET_JSON = `'{"id":' || id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id
  || iif(status IS NULL, '', ',"status":' || json_quote(status)) || '}'`;

/** SQL condition on a row of `pets`: the pet has an open order. */
const PET_HAS_OPEN_ORDER =
  "EXISTS (SELECT 1 FROM orders WHERE pet_id = pets.id AND status IN ('placed', 'approved'))";

export function selectPets(db: Database, query: PageQuery): Promise<D1Result<PageRow>> {
  return selectPage(db, { table: 'pets', item: PET_JSON, filters: ['status'] }, query);
}

/** The pet with this id: one row or none. */
export function selectPet(db: Database, id: bigint): Promise<D1Result<{ json: string }>> {
  return db
    .prepare(`SELECT ${PET_JSON} AS json FROM pets WHERE id = CAST(?1 AS INTEGER)`)
    .bind(`${id}`)
    .all();
}

export function insertPet(
  db: Database,
  { name, categoryId, status }: NewPet,
): Promise<D1Result<NewRow>> {
  return db
    .prepare(
      `INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)
       RETURNING CAST(id AS TEXT) AS id, ${PET_JSON} AS json`,
    )
    .bind(name, `${categoryId}`, status ?? null)
    .all();
}

/**
 * Inserts a pet once for an idempotency key. The outcome is the first response, even if this attempt inserted nothing. An
 * attempt that D1 executes late finds the record of the key and inserts nothing, so it needs no fence (see attempts.ts).
 */
export function insertPetOnce(
  db: Database,
  { name, categoryId, status }: NewPet,
  request: KeyedRequest,
): Promise<D1Result<NewRow & FirstRequest>> {
  const insert = db
    .prepare(
      `INSERT INTO pets (name, category_id, status) SELECT ?1, ?2, ?3
       WHERE ${whereKeyUnused('?4')}`,
    )
    .bind(name, `${categoryId}`, status ?? null, request.keyHash);
  const outcome = db
    .prepare(
      `SELECT CAST(json_extract(response, '$.id') AS TEXT) AS id, response AS json, body_hash, request_id
       FROM idempotency_keys WHERE key_hash = ?1`,
    )
    .bind(request.keyHash);
  const changes = [
    deleteExpired(db, request),
    insert,
    recordInsertedRow(db, request, 'pets', PET_JSON),
  ];
  return transaction(db, changes, outcome);
}

/** The outcome of a PATCH or DELETE. */
export type PetChange = {
  /** The body of the response of the attempt that succeeded, `''` for a DELETE; `null` if none did. */
  response: string | null;
  /** 1 if the pet exists now, else 0. */
  pet_exists: number;
};

/** Sets the fields of a patch. While the pet has an open order, which determines its status, the status cannot be set. */
export function changePet(
  db: Database,
  id: bigint,
  { name, categoryId, status }: PetPatch,
  attempt: Attempt,
): Promise<D1Result<PetChange>> {
  const { requestId, number } = attempt;
  const parameters = [`${id}`, name ?? null, categoryId?.toString() ?? null, requestId, number];
  const update =
    status === undefined
      ? db
          .prepare(
            `UPDATE pets SET name = ifnull(?2, name), category_id = ifnull(?3, category_id)
             WHERE id = CAST(?1 AS INTEGER) AND ${whereNotFenced('?4', '?5')}`,
          )
          .bind(...parameters)
      : db
          .prepare(
            `UPDATE pets
             SET name = ifnull(?2, name), category_id = ifnull(?3, category_id), status = ?6
             WHERE id = CAST(?1 AS INTEGER) AND NOT ${PET_HAS_OPEN_ORDER}
               AND ${whereNotFenced('?4', '?5')}`,
          )
          .bind(...parameters, status);
  const responseSql = `SELECT ${PET_JSON} FROM pets WHERE id = CAST(?1 AS INTEGER)`;
  return fencedTransaction(
    db,
    attempt,
    [update, recordResponse(db, attempt, id, responseSql)],
    selectChange(db, id, requestId),
  );
}

/** Deletes a pet without an open order. */
export function removePet(
  db: Database,
  id: bigint,
  attempt: Attempt,
): Promise<D1Result<PetChange>> {
  const { requestId, number } = attempt;
  const remove = db
    .prepare(
      `DELETE FROM pets
       WHERE id = CAST(?1 AS INTEGER) AND NOT ${PET_HAS_OPEN_ORDER} AND ${whereNotFenced('?2', '?3')}`,
    )
    .bind(`${id}`, requestId, number);
  return fencedTransaction(
    db,
    attempt,
    [remove, recordResponse(db, attempt, id, "''")],
    selectChange(db, id, requestId),
  );
}

/** Selects the `PetChange` of a request. */
function selectChange(db: Database, id: bigint, requestId: string): D1PreparedStatement {
  return db
    .prepare(
      `SELECT (SELECT response FROM write_attempts WHERE request_id = ?2) AS response,
         EXISTS (SELECT 1 FROM pets WHERE id = CAST(?1 AS INTEGER)) AS pet_exists`,
    )
    .bind(`${id}`, requestId);
}
