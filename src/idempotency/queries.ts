/** The SQL of idempotency keys: inserting any row once, and removing expired records. */
import type { Database } from '../database.ts';
import type { Created } from '../http/responses.ts';
import { KEPT_MS } from './header.ts';

/** How to insert a row of some table, within one transaction. */
export type Insertion = {
  /** The table. Its `id` is AUTOINCREMENT. */
  table: string;
  /** `INSERT INTO … SELECT … WHERE`, with the parameters ?1 to ?n. A condition follows. */
  insert: string;
  values: (string | null)[];
  /** SQL expression of the new row's JSON. */
  json: string;
  /** Statements of the same transaction. They also run when no row was inserted, and must be harmless then. */
  effects?: D1PreparedStatement[];
};

/** A record, as it is stored. */
export type IdempotencyRecord = {
  /** The client and the operation: see `scopeOf`. */
  scope: string;
  key: string;
  bodyHash: string;
  requestId: string;
};

export type FirstAnswer = Created & {
  /** Of the request that was answered first. */
  body_hash: string;
  request_id: string;
};

/**
 * Inserts a row. The first result has it, if it was inserted; the others are those of `effects`, with rows
 * of the type `Effect`.
 */
export async function insertRow<Effect>(
  db: Database,
  insertion: Insertion,
): Promise<[D1Result<Created>, ...D1Result<Effect>[]]> {
  const { insert, values, json, effects } = insertion;
  const row = db
    .prepare(`${insert} TRUE RETURNING CAST(id AS TEXT) AS id, ${json} AS json`)
    .bind(...values);
  if (!effects) return [await row.all<Created>()];
  const [created, ...results] = await db.batch<Created & Effect>([row, ...effects]);
  if (!created) throw new Error('the batch has fewer results than statements');
  return [created, ...results];
}

const whereRecord = 'key_id = ?1 AND idempotency_key = ?2';

/**
 * Inserts a row once for an idempotency key: the row and the record of its answer in one transaction, so
 * that any number of concurrent or repeated calls insert one row. The first result has the first answer, if
 * there is one: another request's, or with another body's hash, if that came before. The others are those
 * of `effects`.
 */
export async function insertRowOnce<Effect>(
  db: Database,
  { table, insert, values, json, effects = [] }: Insertion,
  { scope, key, bodyHash, requestId }: IdempotencyRecord,
): Promise<[D1Result<FirstAnswer>, ...D1Result<Effect>[]]> {
  const now = Date.now();
  const [scopeAt, keyAt] = [values.length + 1, values.length + 2];
  const [, , , answer, ...results] = await db.batch<FirstAnswer & Effect>([
    // A record that the scheduled handler has not removed yet is not honoured either.
    db
      .prepare(`DELETE FROM idempotency_keys WHERE ${whereRecord} AND created_at <= ?3`)
      .bind(scope, key, now - KEPT_MS),
    db
      .prepare(
        `${insert} NOT EXISTS (SELECT 1 FROM idempotency_keys
           WHERE key_id = ?${scopeAt} AND idempotency_key = ?${keyAt})`,
      )
      .bind(...values, scope, key),
    // changes(): only if the statement before inserted a row.
    db
      .prepare(
        `INSERT INTO idempotency_keys (key_id, idempotency_key, created_at, body_hash, answer, request_id)
         SELECT ?1, ?2, ?3, ?4, ${json}, ?5 FROM ${table} WHERE id = last_insert_rowid() AND changes() = 1`,
      )
      .bind(scope, key, now, bodyHash, requestId),
    db
      .prepare(
        `SELECT CAST(json_extract(answer, '$.id') AS TEXT) AS id, answer AS json, body_hash, request_id
         FROM idempotency_keys WHERE ${whereRecord}`,
      )
      .bind(scope, key),
    ...effects,
  ]);
  if (!answer) throw new Error('the batch has fewer results than statements');
  return [answer, ...results];
}

/** The record of a write that has no answer: its request. */
export type WriteRecord = { scope: string; requestId: string };

/**
 * Records that the statement before, in the same batch, changed a row. When its answer is lost, another
 * attempt of the same request finds the record (`selectRecord`): it neither repeats the change, over a later
 * one of another client, nor mistakes its own change for another's.
 */
export function recordChange(db: Database, { scope, requestId }: WriteRecord): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO idempotency_keys (key_id, idempotency_key, created_at, body_hash, answer, request_id)
       SELECT ?1, ?2, ?3, '', '{}', ?2 WHERE changes() = 1`,
    )
    .bind(scope, requestId, Date.now());
}

/** Selects the record of a write: the parameter ?2 is its scope, ?3 the id of its request. */
export const selectRecord =
  'SELECT 1 FROM idempotency_keys WHERE key_id = ?2 AND idempotency_key = ?3';

/** Removes up to `limit` records that were made at `before` or earlier, the oldest first. */
export function deleteRecords(
  db: Database,
  { before, limit }: { before: number; limit: number },
): Promise<D1Result> {
  return db
    .prepare(
      `DELETE FROM idempotency_keys WHERE (key_id, idempotency_key) IN (
         SELECT key_id, idempotency_key FROM idempotency_keys
         WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)`,
    )
    .bind(before, limit)
    .run();
}
