/** Creates a row for a POST: once per `Idempotency-Key`, if the request has one. */
import type { Context } from 'hono';
import { type Database, runQuery } from '../database.ts';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import type { Created } from '../http/responses.ts';
import { hashBody, idempotencyKeyOf, KEPT_HOURS, scopeOf } from './header.ts';
import { type Insertion, insertRow, insertRowOnce } from './queries.ts';

type Create = {
  operationId: string;
  /** The validated body. */
  body: Record<string, unknown>;
  insertion: (db: Database) => Insertion;
  /** For the message of a 503 without an idempotency key: `whether the animal was added`. */
  outcome: string;
};

/**
 * Inserts a row, or finds the response to an earlier request with the same idempotency key.
 *
 * @returns the id and JSON of the row, `undefined` if it was not inserted, and the results of the effects.
 * @throws ApiError 422 when the key was used with another body; and as `runQuery`.
 */
export async function create<Effect>(
  c: Context<AppEnv>,
  { operationId, body, insertion, outcome }: Create,
): Promise<{ created: Created | undefined; effects: D1Result<Effect>[] }> {
  const key = idempotencyKeyOf(c);
  if (key === undefined) {
    const policy = { isRepeatable: false, unavailable: unknownOutcome(outcome) };
    const [{ results }, ...effects] = await runQuery(c, policy, (db) =>
      insertRow<Effect>(db, insertion(db)),
    );
    return { created: results[0], effects };
  }
  const requestId = c.get('requestId');
  const bodyHash = await hashBody(body);
  const record = { scope: scopeOf(c, operationId), key, bodyHash, requestId };
  const [{ results }, ...effects] = await runQuery(c, REPEATABLE_CREATE, (db) =>
    insertRowOnce<Effect>(db, insertion(db), record),
  );
  const [first] = results;
  if (first && first.body_hash !== bodyHash) throw idempotencyKeyReused();
  if (first && first.request_id !== requestId) c.get('headers')['Idempotency-Replayed'] = 'true';
  return { created: first, effects };
}

export const REPEATABLE_CREATE = {
  isRepeatable: true,
  unavailable: 'The database did not respond. Retry with the same Idempotency-Key.',
};

function unknownOutcome(outcome: string): string {
  return `The database did not respond. It is unknown ${outcome}: check before you retry. To make retries safe, send an Idempotency-Key with the first request.`;
}

export function idempotencyKeyReused(): ApiError {
  return new ApiError(
    'idempotency_key_reused',
    `This Idempotency-Key was used with another body within the last ${KEPT_HOURS} hours.`,
  );
}
