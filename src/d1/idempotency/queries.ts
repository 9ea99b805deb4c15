/**
 * The SQL of idempotency keys. A create with a key is one transaction: `deleteExpired`, the INSERT of the row under the
 * condition `isKeyUnused`, `recordInsertedRow`, and a SELECT of the recorded response. So any number of concurrent or repeated
 * requests insert one row.
 */
import type { Database } from '../database.ts';
import { KEPT_MS } from './header.ts';

/** A request with an idempotency key. */
export type KeyedRequest = {
  client: string;
  operation: string;
  key: string;
  bodyHash: string;
  requestId: string;
};

/** The first request with an idempotency key. Both fields are `null` if there is none. */
export type FirstRequest = { body_hash: string | null; request_id: string | null };

/** SQL condition: no request has used the idempotency key. The arguments name the SQL parameters. */
export function isKeyUnused(
  client: `?${number}`,
  operation: `?${number}`,
  key: `?${number}`,
): string {
  return `NOT EXISTS (
    SELECT 1 FROM idempotency_keys
    WHERE client = ${client} AND operation = ${operation} AND idempotency_key = ${key})`;
}

/** Deletes the record of the key if it has expired, without waiting for the scheduled handler. */
export function deleteExpired(
  db: Database,
  { client, operation, key }: KeyedRequest,
): D1PreparedStatement {
  return db
    .prepare(
      `DELETE FROM idempotency_keys
       WHERE client = ?1 AND operation = ?2 AND idempotency_key = ?3 AND created_at <= ?4`,
    )
    .bind(client, operation, key, Date.now() - KEPT_MS);
}

/** Records the row that the preceding statement inserted, if it did. `json` is the SQL expression of the row's JSON. */
export function recordInsertedRow(
  db: Database,
  { client, operation, key, bodyHash, requestId }: KeyedRequest,
  table: 'pets' | 'orders',
  json: string,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO idempotency_keys
         (client, operation, idempotency_key, created_at, body_hash, request_id, response)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ${json} FROM ${table}
       WHERE id = last_insert_rowid() AND changes() = 1`,
    )
    .bind(client, operation, key, Date.now(), bodyHash, requestId);
}
