/**
 * Creates that happen once per `Idempotency-Key`. The statements of a create and the record of its key run in one
 * transaction, so any number of concurrent or repeated requests insert one row:
 *
 *     expired         removes the record of the key if it is older than a day
 *     created         inserts the row, unless the key has a record
 *     recorded        stores the response, if a row was inserted
 *     firstResponse   reads the response to the first request with the key
 *
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';
import { ApiError } from '../errors.ts';
import { sha256 } from '../sha256.ts';
import { type Statement, statement } from './run.ts';

/** How long a record is valid, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

/** The idempotency key of a request, as the table stores it. */
export type IdempotencyKey = {
  /** SHA-256 of the client, the operation and the key. */
  keyHash: string;
  /** SHA-256 of the validated body. */
  bodyHash: string;
};

/** A row that a create inserted: its id in decimal, and the body of the response. */
export type CreatedRow = { id: string; body: string };

/** The recorded response to the first request with an idempotency key. */
type FirstResponse = CreatedRow & { body_hash: string };

/** The idempotency key of a request, or `undefined` without the header. Clients and operations have separate keys. */
export async function idempotencyKeyOf(
  c: Context<AppEnv>,
  body: Record<string, unknown>,
): Promise<IdempotencyKey | undefined> {
  const idempotencyKey = c.get('idempotencyKey');
  if (idempotencyKey === undefined) return undefined;
  const parts = [c.get('client').id, c.get('operation').operationId, idempotencyKey];
  return {
    keyHash: await sha256(JSON.stringify(parts)),
    // The schema has ordered the fields.
    bodyHash: await sha256(JSON.stringify(body, bigintAsText)),
  };
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

/**
 * SQL condition: no request has used the idempotency key. `keyHash` is a placeholder, such as `?4`. Its value is NULL
 * without an idempotency key; then the condition is true.
 */
export function whereUnused(keyHash: `?${number}`): string {
  return `NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE key_hash = ${keyHash})`;
}

/** The first statement of a create: removes an expired record of the key. Empty without a key. */
export function removeExpired(idempotencyKey: IdempotencyKey | undefined): { expired?: Statement } {
  if (!idempotencyKey) return {};
  const expired = statement(
    'DELETE FROM idempotency_keys WHERE key_hash = ?1 AND created_at <= ?2',
    idempotencyKey.keyHash,
    Date.now() - KEPT_MS,
  );
  return { expired };
}

/**
 * The statements directly after the INSERT of a create: `recorded` stores the response if a row was inserted, and
 * `firstResponse` reads the response to the first request. Empty without a key. `responseSql` is an expression.
 */
export function recordFirst(
  idempotencyKey: IdempotencyKey | undefined,
  { table, responseSql }: { table: string; responseSql: string },
): { recorded?: Statement; firstResponse?: Statement<FirstResponse> } {
  if (!idempotencyKey) return {};
  const recorded = statement(
    `INSERT INTO idempotency_keys (key_hash, created_at, body_hash, response)
     SELECT ?1, ?2, ?3, ${responseSql} FROM ${table} WHERE id = last_insert_rowid() AND changes() = 1`,
    idempotencyKey.keyHash,
    Date.now(),
    idempotencyKey.bodyHash,
  );
  const firstResponse = statement<FirstResponse>(
    `SELECT CAST(json_extract(response, '$.id') AS TEXT) AS id, response AS body, body_hash
     FROM idempotency_keys WHERE key_hash = ?1`,
    idempotencyKey.keyHash,
  );
  return { recorded, firstResponse };
}

/**
 * The row of the first request with the idempotency key, if the key has a record. A refused order leaves none.
 *
 * @throws ApiError 422 when the first request had another body.
 */
export function replay(
  c: Context<AppEnv>,
  idempotencyKey: IdempotencyKey | undefined,
  firstResponse: FirstResponse | undefined,
): CreatedRow | undefined {
  if (!idempotencyKey || !firstResponse) return undefined;
  if (firstResponse.body_hash !== idempotencyKey.bodyHash) throw idempotencyKeyReused();
  c.header('Idempotency-Replayed', 'true');
  return firstResponse;
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`,
  );
}
