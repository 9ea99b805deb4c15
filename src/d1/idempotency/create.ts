/** Creates a row for a POST: once per `Idempotency-Key`, if the request has one. */
import type { Context } from 'hono';
import type { AppEnv } from '../../env.ts';
import { ApiError } from '../../errors.ts';
import { type Attempt, type Database, runQuery } from '../database.ts';
import { KEYED_UNAVAILABLE } from '../unavailable.ts';
import { hashBody, idempotencyKeyOf, KEPT_HOURS } from './header.ts';
import type { FirstRequest, KeyedRequest } from './queries.ts';

/** The two ways to insert a row. The outcome of both has the same type. */
type Inserts<Outcome> = {
  insert: (db: Database) => Promise<D1Result<Outcome>>;
  /** Inserts at most one row for all requests with the same idempotency key. */
  insertOnce: (
    db: Database,
    request: KeyedRequest,
    attempt: Attempt,
  ) => Promise<D1Result<Outcome & FirstRequest>>;
};

/**
 * Inserts a row, or finds the response to an earlier request with the same idempotency key.
 *
 * @throws ApiError 422 when the key was used with another body; and as `runQuery`.
 */
export async function create<Outcome>(
  c: Context<AppEnv>,
  body: Record<string, unknown>,
  { insert, insertOnce }: Inserts<Outcome>,
): Promise<Outcome | undefined> {
  const key = idempotencyKeyOf(c);
  if (key === undefined) return runQuery(c, insert, { isRepeatable: false });

  const { operationId: operation } = c.get('operation');
  // A rotated API key has the family of its predecessor, so it stays the same client.
  const { id, family: client = id } = c.get('key');
  const requestId = c.get('requestId');
  const bodyHash = await hashBody(body);
  const request = { client, operation, key, bodyHash, requestId };
  const outcome = await runQuery(c, (db, attempt) => insertOnce(db, request, attempt), {
    unavailable: KEYED_UNAVAILABLE,
  });
  const isUsed = outcome !== undefined && outcome.request_id !== null;
  if (isUsed && outcome.body_hash !== bodyHash) throw idempotencyKeyReused();
  if (isUsed && outcome.request_id !== requestId) c.header('Idempotency-Replayed', 'true');
  return outcome;
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`,
  );
}
