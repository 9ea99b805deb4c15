/** Runs a create: within a day, once for each `Idempotency-Key`. */
import type { Context } from 'hono';
import type { OperationEnv } from '../context.ts';
import type { FirstRows, Statements } from '../d1/execute.ts';
import { ApiError } from '../errors.ts';
import { runQueries } from '../http/run-queries.ts';
import { sha256 } from '../sha256.ts';
import {
  type CreatedRow,
  type CreateQuery,
  KEPT_HOURS,
  keyedCreate,
  plainCreate,
  type RequestHashes,
} from './statements.ts';

/**
 * What a create returned: `created`, and the first row of each statement of `Before` (those that run before the INSERT, see
 * `CreateQuery`). `created` is `undefined` if neither this request nor an earlier one with its idempotency key has inserted a row.
 */
type Outcome<Before extends Statements> = FirstRows<Before> & { created: CreatedRow | undefined };

/**
 * Runs the query of a create. After a request with an `Idempotency-Key` has inserted a row, each later one with the key gets the
 * same response again, with `Idempotency-Replayed: true`.
 *
 * @returns `created`: the new row, or the one to replay; and the first row of each statement of the query's `before`, under the
 *   name of the statement.
 * @throws ApiError 422 when the request to replay had another body; and the errors of `runQueries`.
 */
export async function createOnce<Body extends object, Before extends Statements>(
  c: Context<OperationEnv>,
  query: CreateQuery<Body, Before>,
  body: Body,
): Promise<Outcome<Before>> {
  const hashes = await requestHashes(c, body);
  if (!hashes) return runQueries(c, plainCreate(query, body));
  const rows = await runQueries(c, keyedCreate(query, body, hashes));
  const { created, firstResponse } = rows;
  // This request has inserted a row.
  if (created) return rows;
  // No request with the key has inserted a row. The rows of `before` show the caller why.
  if (!firstResponse) return rows;
  if (firstResponse.body_hash !== hashes.bodyHash) throw idempotencyKeyReused();
  c.header('Idempotency-Replayed', 'true');
  return { ...rows, created: firstResponse };
}

/** `undefined` without an idempotency key. The same key of another client or operation is another key. */
async function requestHashes(
  c: Context<OperationEnv>,
  body: object,
): Promise<RequestHashes | undefined> {
  const idempotencyKey = c.get('idempotencyKey');
  if (idempotencyKey === undefined) return undefined;
  const parts = [c.get('client').id, c.get('definition').operationId, idempotencyKey];
  return {
    keyHash: await sha256(JSON.stringify(parts)),
    // zod outputs the fields in the order of the schema, so their order in the request does not matter.
    bodyHash: await sha256(JSON.stringify(body, bigintAsText)),
  };
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
