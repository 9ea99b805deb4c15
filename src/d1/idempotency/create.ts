/** Creates a row for a POST: once per `Idempotency-Key`, if the request has one. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { ApiError } from '../../errors.ts';
import { sha256 } from '../../sha256.ts';
import { type Attempt, type Database, runQuery } from '../database.ts';
import { KEYED_UNAVAILABLE } from '../unavailable.ts';
import { hashBody, idempotencyKeyOf, KEPT_HOURS } from './header.ts';
import type { FirstRequest, KeyedRequest } from './queries.ts';

type CreateOptions<Outcome> = {
  /** The validated body. */
  body: Record<string, unknown>;
  insert: (db: Database) => Promise<D1Result<Outcome>>;
  /** Inserts at most one row for all requests with the same idempotency key. The outcome names the first of them. */
  insertOnce: (
    db: Database,
    request: KeyedRequest,
    attempt: Attempt,
  ) => Promise<D1Result<Outcome & FirstRequest>>;
};

/**
 * Inserts a row; once for all requests with the same idempotency key, if the request has one.
 *
 * @throws ApiError 422 when the key was used with another body; and as `runQuery`.
 */
export async function createOncePerKey<Outcome>(
  c: Context<AppEnv>,
  { body, insert, insertOnce }: CreateOptions<Outcome>,
): Promise<Outcome | undefined> {
  const key = idempotencyKeyOf(c);
  if (key === undefined) return runQuery(c, insert, { isRepeatable: false });

  const requestId = c.get('requestId');
  // Clients and operations have separate keys.
  const keyHash = await sha256(
    JSON.stringify([c.get('client').id, c.get('operation').operationId, key]),
  );
  const bodyHash = await hashBody(body);
  const request = { keyHash, bodyHash, requestId };
  const outcome = await runQuery(c, (db, attempt) => insertOnce(db, request, attempt), {
    unavailable: KEYED_UNAVAILABLE,
  });
  // A refused order leaves no record.
  const hasRecord = outcome !== undefined && outcome.request_id !== null;
  if (hasRecord && outcome.body_hash !== bodyHash) throw idempotencyKeyReused();
  if (hasRecord && outcome.request_id !== requestId) c.header('Idempotency-Replayed', 'true');
  return outcome;
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`,
  );
}
