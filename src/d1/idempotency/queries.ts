/**
 * The SQL of idempotency keys. A create with a key is one transaction: `deleteExpired`, the INSERT of the row under the
 * condition `whereKeyUnused`, `recordInsertedRow`, and a SELECT of the recorded response. So any number of concurrent or repeated
 * requests insert one row.
 */
import type { Database } from '../database.ts';
import { KEPT_MS } from './header.ts';

/** A request with an idempotency key. */
export type KeyedRequest = {
  /** SHA-256 of the client, the operation and the idempotency key. */
  keyHash: string;
  /** SHA-256 of the validated body. */
  bodyHash: string;
  requestId: string;
};

/** The first request with an idempotency key. Both fields are `null` if there is none. */
export type FirstRequest = { body_hash: string | null; request_id: string | null };

/** SQL condition: no request has used the idempotency key. The argument names the SQL parameter of its hash. */
export function whereKeyUnused(keyHash: `?${number}`): string {
  return `NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE key_hash = ${keyHash})`;
}

/** Deletes the record of the key if it has expired, without waiting for the scheduled handler. */
export function deleteExpired(db: Database, { keyHash }: KeyedRequest): D1PreparedStatement {
  return db
    .prepare('DELETE FROM idempotency_keys WHERE key_hash = ?1 AND created_at <= ?2')
    .bind(keyHash, Date.now() - KEPT_MS);
}

/** Records the row that the preceding statement inserted, if it did. `json` is the SQL expression of the row's JSON. */
export function recordInsertedRow(
  db: Database,
  { keyHash, bodyHash, requestId }: KeyedRequest,
  table: string,
  json: string,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO idempotency_keys (key_hash, created_at, body_hash, request_id, response)
       SELECT ?1, ?2, ?3, ?4, ${json} FROM ${table}
       WHERE id = last_insert_rowid() AND changes() = 1`,
    )
    .bind(keyHash, Date.now(), bodyHash, requestId);
}
