/**
 * Every SQL statement on animals. SQLite writes the JSON: int64 leaves it digit by digit, where a
 * row read into JavaScript would be rounded past 2^53. Integers go in as decimal text, for the same
 * reason: a STRICT INTEGER column stores it exactly.
 */
import type { NewPet } from './schema.ts';

/** One animal as JSON, in the order of the interface's table; without a status there is no member. */
const PET = `CASE WHEN status IS NULL
  THEN json_object('id', id, 'name', name, 'categoryId', category_id)
  ELSE json_object('id', id, 'name', name, 'categoryId', category_id, 'status', status)
END`;

export type PetRow = {
  /** Decimal. */
  pet_id: string;
  /** A Pet as JSON. */
  pet: string;
};

/**
 * A page of animals by ascending id, from the id `from` on; reads at most `limit` rows.
 */
export function selectPets(
  db: D1Database,
  { from, status, limit }: { from: bigint; status: string | undefined; limit: number },
): Promise<D1Result<PetRow>> {
  const columns = `SELECT CAST(id AS TEXT) AS pet_id, ${PET} AS pet FROM pets`;
  const order = 'ORDER BY id LIMIT ?2';
  // Two statements: `?3 IS NULL OR status = ?3` would not use the index.
  const statement =
    status === undefined
      ? db.prepare(`${columns} WHERE id >= CAST(?1 AS INTEGER) ${order}`).bind(`${from}`, limit)
      : db
          .prepare(`${columns} WHERE status = ?3 AND id >= CAST(?1 AS INTEGER) ${order}`)
          .bind(`${from}`, limit, status);
  return statement.all<PetRow>();
}

/** The animal with this id: one row or none. */
export function selectPet(db: D1Database, id: bigint): Promise<D1Result<PetRow>> {
  return db
    .prepare(
      `SELECT CAST(id AS TEXT) AS pet_id, ${PET} AS pet FROM pets WHERE id = CAST(?1 AS INTEGER)`,
    )
    .bind(`${id}`)
    .all<PetRow>();
}

/** Adds an animal, and returns it as one row. */
export function insertPet(db: D1Database, pet: NewPet): Promise<D1Result<PetRow>> {
  return db
    .prepare(
      `INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)
       RETURNING CAST(id AS TEXT) AS pet_id, ${PET} AS pet`,
    )
    .bind(pet.name, `${pet.categoryId}`, pet.status ?? null)
    .all<PetRow>();
}
