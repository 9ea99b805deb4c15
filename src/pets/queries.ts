/**
 * The queries on pets. A query returns statements by name. `runQueries` executes them in order, in one transaction, and returns the
 * first row of each under its name. A page is one row. In a template, a plain value becomes a parameter, and SQL a part of the
 * text. The query of a create returns the row to insert, for `createOnce`.
 *
 * SQLite writes the JSON of a row, because integers beyond 2^53 are rounded in rows read into JavaScript.
 */
import { type JsonText, sql } from '../d1/sql.ts';
import { equalsIfGiven, insertInto, selectPage, type Table } from '../d1/table.ts';
import type { Pet } from './description.ts';
import type { NewPet, PetPatch, PetQuery } from './schemas.ts';

const PETS = {
  name: sql`pets`,
  columns: ['name', 'category_id', 'status'],
  // json_patch, a merge patch (RFC 7396), drops every member that is null: here the status of a pet without one.
  json: sql`json_patch('{}',
    json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status))`,
} as const satisfies Table<Pet>;

/** SQL condition on a row of `pets`. */
const HAS_OPEN_ORDER = sql`EXISTS (
  SELECT 1 FROM orders WHERE orders.pet_id = pets.id AND orders.status IN ('placed', 'approved'))`;

export function listPets({ limit, after, status }: PetQuery) {
  return { page: selectPage(PETS, { limit, after }, equalsIfGiven(sql`status`, status)) };
}

export function getPet(id: bigint) {
  return {
    pet: sql<{ json: JsonText<Pet> }>`SELECT ${PETS.json} AS json FROM pets WHERE id = ${id}`,
  };
}

export function createPet({ name, categoryId, status }: NewPet) {
  return insertInto(PETS, { name, category_id: categoryId, status: status ?? null });
}

/** Sets the fields of a patch. While a pet has an open order, its status belongs to the order and cannot be set. */
export function updatePet(id: bigint, { name, categoryId, status }: PetPatch) {
  const setsStatus = status !== undefined;
  // A column that is set to itself keeps its value.
  const updated = sql<{ json: JsonText<Pet> }>`UPDATE pets SET
      name = ${name ?? sql`name`},
      category_id = ${categoryId ?? sql`category_id`},
      status = ${setsStatus ? status : sql`status`}
    WHERE id = ${id} AND ${setsStatus ? sql`NOT ${HAS_OPEN_ORDER}` : sql`TRUE`}
    RETURNING ${PETS.json} AS json`;
  return { updated, exists: selectExistence(id) };
}

/** Deletes a pet without an open order. */
export function deletePet(id: bigint) {
  const deleted = sql<{ done: 1 }>`DELETE FROM pets WHERE id = ${id} AND NOT ${HAS_OPEN_ORDER}
    RETURNING 1 AS done`;
  return { deleted, exists: selectExistence(id) };
}

/** Returns a row if the pet exists. */
function selectExistence(id: bigint) {
  return sql<{ found: 1 }>`SELECT 1 AS found FROM pets WHERE id = ${id}`;
}
