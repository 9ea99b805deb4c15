/**
 * Every SQL statement on animals. SQLite writes the JSON: int64 leaves it digit by digit, where a
 * row read into JavaScript would be rounded past 2^53. Integers go in as decimal text, for the same
 * reason: a STRICT INTEGER column stores it exactly.
 */
import type { Database } from '../database.ts';
import { KEPT_MS } from '../idempotency/header.ts';
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

export type PageRow = {
  /** The animals, a JSON array. */
  pets: string;
  /** Id of the last of them, decimal, if there are more after it; else `null`. */
  more_after: string | null;
};

/**
 * A page of at most `limit` animals by ascending id, from the id `from` on, in one row; reads at most
 * `limit` + 1 rows.
 */
export function selectPets(
  db: Database,
  { from, status, limit }: { from: bigint; status: string | undefined; limit: number },
): Promise<D1Result<PageRow>> {
  // Two statements: `?3 IS NULL OR status = ?3` would not use the index.
  const filter = status === undefined ? '' : 'status = ?3 AND';
  // An aggregate takes the rows as its subquery orders them; with an order of its own, SQLite would
  // read each of them twice.
  const statement = db.prepare(
    `SELECT pets,
       CASE WHEN EXISTS (SELECT 1 FROM pets WHERE ${filter} id > last)
         THEN CAST(last AS TEXT) END AS more_after
     FROM (
       SELECT '[' || ifnull(group_concat(pet, ','), '') || ']' AS pets, max(id) AS last
       FROM (
         SELECT id, ${PET} AS pet FROM pets
         WHERE ${filter} id >= CAST(?1 AS INTEGER) ORDER BY id LIMIT ?2
       )
     )`,
  );
  const values = status === undefined ? [`${from}`, limit] : [`${from}`, limit, status];
  return statement.bind(...values).all<PageRow>();
}

/** The animal with this id: one row or none. */
export function selectPet(db: Database, id: bigint): Promise<D1Result<PetRow>> {
  return db
    .prepare(
      `SELECT CAST(id AS TEXT) AS pet_id, ${PET} AS pet FROM pets WHERE id = CAST(?1 AS INTEGER)`,
    )
    .bind(`${id}`)
    .all<PetRow>();
}

/** Adds an animal, and returns it as one row. */
export function insertPet(db: Database, pet: NewPet): Promise<D1Result<PetRow>> {
  return db
    .prepare(
      `INSERT INTO pets (name, category_id, status) VALUES (?1, ?2, ?3)
       RETURNING CAST(id AS TEXT) AS pet_id, ${PET} AS pet`,
    )
    .bind(pet.name, `${pet.categoryId}`, pet.status ?? null)
    .all<PetRow>();
}

export type IdempotencyKey = {
  /** What a rotation of the API key keeps: see keys/record.ts. */
  keyFamily: string;
  key: string;
  bodyHash: string;
  requestId: string;
};

export type FirstAnswer = PetRow & {
  /** Of the request that was answered first. */
  body_hash: string;
  request_id: string;
};

/**
 * Adds an animal once for an idempotency key: the animal and the record of its answer in one transaction,
 * so that any number of concurrent or repeated calls make one animal. Resolves to the first answer:
 * another request's, or with another body's hash, if that came before.
 */
export async function insertPetOnce(
  db: Database,
  pet: NewPet,
  { keyFamily, key, bodyHash, requestId }: IdempotencyKey,
): Promise<D1Result<FirstAnswer>> {
  const now = Date.now();
  const isRecord = 'key_id = ?1 AND idempotency_key = ?2';
  const [, , , answer] = await db.batch<FirstAnswer>([
    // A record that the scheduled handler has not removed yet is not honoured either.
    db
      .prepare(`DELETE FROM idempotency_keys WHERE ${isRecord} AND created_at <= ?3`)
      .bind(keyFamily, key, now - KEPT_MS),
    db
      .prepare(
        `INSERT INTO pets (name, category_id, status) SELECT ?3, ?4, ?5
         WHERE NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE ${isRecord})`,
      )
      .bind(keyFamily, key, pet.name, `${pet.categoryId}`, pet.status ?? null),
    // Where no animal was inserted there is a record already, and this one gives way to it.
    db
      .prepare(
        `INSERT INTO idempotency_keys (key_id, idempotency_key, created_at, body_hash, answer, request_id)
         SELECT ?1, ?2, ?3, ?4, ${PET}, ?5 FROM pets WHERE id = last_insert_rowid()
         ON CONFLICT DO NOTHING`,
      )
      .bind(keyFamily, key, now, bodyHash, requestId),
    db
      .prepare(
        `SELECT CAST(json_extract(answer, '$.id') AS TEXT) AS pet_id, answer AS pet, body_hash, request_id
         FROM idempotency_keys WHERE ${isRecord}`,
      )
      .bind(keyFamily, key),
  ]);
  if (!answer) throw new Error('the batch has fewer results than statements');
  return answer;
}
