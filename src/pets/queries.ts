/** The queries on pets. In a statement, `${value}` is a parameter, `${sql}` a part of the text. */
import type { Database } from '../d1/database.ts';
import { assignments, sql } from '../d1/sql.ts';
import { createOnce, type Once } from '../idempotency/create-once.ts';
import { petHasOpenOrder, petNotFound } from './errors.ts';
import type { NewPet, Pet, PetPatch, PetQuery, PetStatus } from './schemas.ts';

/** D1 rounds integers beyond 2^53, so they are read as text. */
const COLUMNS = sql`
  CAST(id AS TEXT) AS id_text, name, CAST(category_id AS TEXT) AS category_id_text, status`;

type PetRow = {
  id_text: string;
  name: string;
  category_id_text: string;
  status: PetStatus | null;
};

function toPet({ id_text, name, category_id_text, status }: PetRow): Pet {
  return {
    id: BigInt(id_text),
    name,
    categoryId: BigInt(category_id_text),
    status: status ?? undefined,
  };
}

const HAS_OPEN_ORDER = sql`EXISTS (
  SELECT 1 FROM orders WHERE orders.pet_id = pets.id AND orders.status IN ('placed', 'approved'))`;

export async function listPets(db: Database, { limit, after, status }: PetQuery): Promise<Pet[]> {
  const hasStatus = status === undefined ? sql`TRUE` : sql`status = ${status}`;
  const isLater = after === undefined ? sql`TRUE` : sql`id > ${after}`;
  const [rows] = await db.run(
    sql<PetRow>`SELECT ${COLUMNS} FROM pets
      WHERE ${hasStatus} AND ${isLater} ORDER BY id LIMIT ${limit}`,
  );
  return rows.map(toPet);
}

export async function getPet(db: Database, id: bigint): Promise<Pet> {
  const [[row]] = await db.run(sql<PetRow>`SELECT ${COLUMNS} FROM pets WHERE id = ${id}`);
  if (!row) throw petNotFound(id);
  return toPet(row);
}

export function createPet(db: Database, once: Once, pet: NewPet): Promise<Pet> {
  const { name, categoryId, status = null } = pet;
  return createOnce(db, once, {
    into: 'pets',
    row: { name, category_id: categoryId, status },
    item: pet,
  });
}

/** While a pet has an open order, its status belongs to the order and cannot be set. */
export async function updatePet(
  db: Database,
  id: bigint,
  { name, categoryId, status }: PetPatch,
): Promise<Pet> {
  // Only the columns that the patch sets: each index of another one would be written, too.
  const changes = assignments({ name, category_id: categoryId, status });
  const isAllowed = status === undefined ? sql`TRUE` : sql`NOT ${HAS_OPEN_ORDER}`;
  const [[updated], [existing]] = await db.run(
    sql<PetRow>`UPDATE pets SET ${changes}
      WHERE id = ${id} AND ${isAllowed}
      RETURNING ${COLUMNS}`,
    selectExistence(id),
  );
  if (updated) return toPet(updated);
  throw existing ? petHasOpenOrder(id) : petNotFound(id);
}

export async function deletePet(db: Database, id: bigint): Promise<void> {
  const [[deleted], [existing]] = await db.run(
    sql`DELETE FROM pets WHERE id = ${id} AND NOT ${HAS_OPEN_ORDER} RETURNING 1`,
    selectExistence(id),
  );
  if (deleted) return;
  throw existing ? petHasOpenOrder(id) : petNotFound(id);
}

function selectExistence(id: bigint) {
  return sql`SELECT 1 FROM pets WHERE id = ${id}`;
}
