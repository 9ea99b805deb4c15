/**
 * The SQL statements on pets. SQLite writes the body of a response, because integers beyond 2^53 are rounded in rows read
 * into JavaScript. For the same reason integers are bound as decimal text, which a STRICT INTEGER column stores exactly.
 * Where SQLite compares an id, CAST turns the text into an integer.
 */
import {
  type CreatedRow,
  type IdempotencyKey,
  recordFirst,
  removeExpired,
  whereUnused,
} from '../d1/idempotency.ts';
import { statement } from '../d1/run.ts';
import { type PageParameters, selectPage } from '../http/paging.ts';
import type { NewPet, PetPatch } from './schema.ts';

/**
 * SQL expression: a pet as JSON, with its fields in the order of the interface. A NULL status is omitted: json_object cannot
 * omit members, and json_patch takes twice as long.
 */
const PET_JSON = `'{"id":' || id || ',"name":' || json_quote(name) || ',"categoryId":' || category_id
  || iif(status IS NULL, '', ',"status":' || json_quote(status)) || '}'`;

/** SQL condition on a row of `pets`: the pet has an open order. */
const HAS_OPEN_ORDER =
  "EXISTS (SELECT 1 FROM orders WHERE pet_id = pets.id AND status IN ('placed', 'approved'))";

export function listPets(parameters: PageParameters) {
  return { page: selectPage({ table: 'pets', item: PET_JSON }, parameters) };
}

export function getPet(id: bigint) {
  const pet = statement<{ body: string }>(
    `SELECT ${PET_JSON} AS body FROM pets WHERE id = CAST(?1 AS INTEGER)`,
    `${id}`,
  );
  return { pet };
}

/** Inserts a pet, unless the idempotency key was used before. */
export function createPet(
  { name, categoryId, status }: NewPet,
  idempotencyKey: IdempotencyKey | undefined,
) {
  const created = statement<CreatedRow>(
    `INSERT INTO pets (name, category_id, status)
     SELECT ?1, ?2, ?3 WHERE ${whereUnused('?4')}
     RETURNING CAST(id AS TEXT) AS id, ${PET_JSON} AS body`,
    name,
    `${categoryId}`,
    status ?? null,
    idempotencyKey?.keyHash ?? null,
  );
  // In this order: the record depends on changes() of the INSERT.
  return {
    ...removeExpired(idempotencyKey),
    created,
    ...recordFirst(idempotencyKey, { table: 'pets', responseSql: PET_JSON }),
  };
}

/**
 * Sets the fields of a patch: ?2 is the name, ?3 the category, ?4 whether to set the status, and ?5 the status. While a pet
 * has an open order, its status belongs to the order.
 */
export function changePet(id: bigint, { name, categoryId, status }: PetPatch) {
  const setsStatus = status === undefined ? 0 : 1;
  const changed = statement<{ body: string }>(
    `UPDATE pets
     SET name = ifnull(?2, name), category_id = ifnull(?3, category_id), status = iif(?4, ?5, status)
     WHERE id = CAST(?1 AS INTEGER) AND NOT (?4 AND ${HAS_OPEN_ORDER})
     RETURNING ${PET_JSON} AS body`,
    `${id}`,
    name ?? null,
    categoryId === undefined ? null : `${categoryId}`,
    setsStatus,
    status ?? null,
  );
  return { changed, pet: selectExistence(id) };
}

/** Deletes a pet without an open order. */
export function deletePet(id: bigint) {
  const deleted = statement<{ done: 1 }>(
    `DELETE FROM pets WHERE id = CAST(?1 AS INTEGER) AND NOT ${HAS_OPEN_ORDER}
     RETURNING 1 AS done`,
    `${id}`,
  );
  return { deleted, pet: selectExistence(id) };
}

/** Returns a row if the pet exists. If a change of it was refused, it has an open order. */
function selectExistence(id: bigint) {
  return statement<{ found: 1 }>(
    'SELECT 1 AS found FROM pets WHERE id = CAST(?1 AS INTEGER)',
    `${id}`,
  );
}
