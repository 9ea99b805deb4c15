/** The SQL of idempotency keys: inserts a row once, and removes expired records. */
import type { Database } from '../database.ts';
import type { Created } from '../http/responses.ts';
import { KEPT_MS } from './header.ts';

/** The statements that insert a row, for one transaction. */
export type Insertion = {
  /** The table. Its `id` is AUTOINCREMENT. */
  table: string;
  /** `INSERT INTO … SELECT … WHERE`, with the parameters ?1 to ?n. A condition is appended. */
  insert: string;
  values: (string | null)[];
  /** SQL expression of the new row's JSON. */
  json: string;
  /** Further statements of the transaction. They also run when no row is inserted, and must have no effect then. */
  effects?: D1PreparedStatement[];
};

/** A record of an idempotency key. */
export type IdempotencyRecord = {
  /** The client and the operation: see `scopeOf`. */
  scope: string;
  key: string;
  bodyHash: string;
  requestId: string;
};

export type FirstResponse = Created & {
  /** The body hash of the first request. */
  body_hash: string;
  request_id: string;
};

/**
 * Inserts a row. The first result holds the row, if it was inserted. The others are the results of `effects`, with rows
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
 * Inserts a row once for an idempotency key: the row and the record of its response in one transaction, so that any
 * number of concurrent or repeated calls insert one row. The first result holds the recorded response, if there is one.
 * It can be the response to an earlier request, even to one with another body: compare the hash and the request id. The
 * other results are those of `effects`.
 */
export async function insertRowOnce<Effect>(
  db: Database,
  { table, insert, values, json, effects = [] }: Insertion,
  { scope, key, bodyHash, requestId }: IdempotencyRecord,
): Promise<[D1Result<FirstResponse>, ...D1Result<Effect>[]]> {
  const now = Date.now();
  const [scopeAt, keyAt] = [values.length + 1, values.length + 2];
  const [, , , response, ...results] = await db.batch<FirstResponse & Effect>([
    // An expired record is not valid, even before the scheduled handler removes it.
    db
      .prepare(`DELETE FROM idempotency_keys WHERE ${whereRecord} AND created_at <= ?3`)
      .bind(scope, key, now - KEPT_MS),
    db
      .prepare(
        `${insert} NOT EXISTS (SELECT 1 FROM idempotency_keys
           WHERE key_id = ?${scopeAt} AND idempotency_key = ?${keyAt})`,
      )
      .bind(...values, scope, key),
    // changes() is 1 only if the previous statement inserted a row.
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
  if (!response) throw new Error('the batch has fewer results than statements');
  return [response, ...results];
}

/** The record of a write whose response is not stored. */
export type WriteRecord = { scope: string; requestId: string };

/**
 * Records that the previous statement of the batch changed a row. If D1's response is lost, the next attempt of the same
 * request finds the record (`selectRecord`): it does not overwrite a later change of another client, and recognizes
 * its own change.
 */
export function recordChange(db: Database, { scope, requestId }: WriteRecord): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO idempotency_keys (key_id, idempotency_key, created_at, body_hash, answer, request_id)
       SELECT ?1, ?2, ?3, '', '{}', ?2 WHERE changes() = 1`,
    )
    .bind(scope, requestId, Date.now());
}

/** Selects the record of a write. The parameter ?2 is its scope, ?3 the request id. */
export const selectRecord =
  'SELECT 1 FROM idempotency_keys WHERE key_id = ?2 AND idempotency_key = ?3';

/** Removes up to `limit` records that were created at `before` or earlier, oldest first. */
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
