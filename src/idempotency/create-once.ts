/**
 * Runs a create: within a day, once for each `Idempotency-Key`.
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header
 */
import type { Context } from 'hono';
import type { OperationEnv } from '../context.ts';
import type { FirstRows, Statements } from '../d1/execute.ts';
import { type Sql, sql } from '../d1/sql.ts';
import { ApiError } from '../errors.ts';
import { runQueries } from '../http/run-queries.ts';
import { sha256 } from '../sha256.ts';

/** How long the record of an idempotency key is valid, in hours and in milliseconds. */
export const KEPT_HOURS = 24;
export const KEPT_MS = KEPT_HOURS * 3_600_000;

/** A row that a create inserted: its id in decimal, and its JSON. */
export type CreatedRow = { id: string; json: string };

/**
 * The statements of a create. The last two are the INSERT, of at most one row, and `created`, which selects that row:
 * `selectInserted`.
 */
type Create = Statements & { created: Sql<CreatedRow> };

/**
 * Runs the query of a create. After a request with an `Idempotency-Key` has inserted a row, each later one with the key gets the
 * same response again, with `Idempotency-Replayed: true`.
 *
 * @param query - gets the SQL condition that the idempotency key of the request, if it has one, is unused. The query puts the condition
 *   into the WHERE of its first write, so that a repeated request writes nothing. Without it, that request would fail, because
 *   `key_hash` is unique.
 * @returns the first row of each statement of the query. `created` is the new row, or the one to replay; `undefined` if no request
 *   with the key has inserted a row.
 * @throws ApiError 422 when the request to replay had another body; and the errors of `runQueries`.
 */
export async function createOnce<Body extends object, Query extends Create>(
  c: Context<OperationEnv>,
  query: (keyIsUnused: Sql, body: Body) => Query,
  body: Body,
): Promise<FirstRows<Query> & { created: CreatedRow | undefined }> {
  const idempotencyKey = c.get('idempotencyKey');
  if (idempotencyKey === undefined) return runQueries(c, query(sql`TRUE`, body));
  // The same key of another client or operation is another key.
  const parts = [c.get('client').id, c.get('definition').operationId, idempotencyKey];
  const keyHash = await sha256(JSON.stringify(parts));
  // zod outputs the fields in the order of the schema, so their order in the request does not matter.
  const bodyHash = await sha256(JSON.stringify(body, bigintAsText));
  const now = Date.now();
  const keyIsUnused = sql`NOT EXISTS (SELECT 1 FROM idempotency_keys WHERE key_hash = ${keyHash})`;
  const create = query(keyIsUnused, body);
  const rows = await runQueries(c, {
    expiredRemoved: sql`DELETE FROM idempotency_keys
      WHERE key_hash = ${keyHash} AND created_at <= ${now - KEPT_MS}`,
    ...create,
    recorded: sql`INSERT INTO idempotency_keys (key_hash, created_at, body_hash, response)
      SELECT ${keyHash}, ${now}, ${bodyHash}, json FROM (${create.created})`,
    record: sql<CreatedRow & { body_hash: string }>`
      SELECT CAST(json_extract(response, '$.id') AS TEXT) AS id, response AS json, body_hash
      FROM idempotency_keys WHERE key_hash = ${keyHash}`,
  });
  const { created, record } = rows;
  // This request has inserted the row; or no request has, and the other rows show the caller why.
  if (created || !record) return rows;
  if (record.body_hash !== bodyHash) throw idempotencyKeyReused();
  c.header('Idempotency-Replayed', 'true');
  return { ...rows, created: record };
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`,
  );
}
