/** The messages of a 503: what is unknown, and whether a retry is safe. */
import type { AppEnv } from '../context.ts';
import type { AuthenticatedDefinition } from '../operation/definition.ts';

const NO_RESPONSE = 'The database did not respond.';
const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

/** The message when D1 fails after the transaction of a write was undone. */
export const NOTHING_WRITTEN = `${NO_RESPONSE} This request has changed nothing: retry it.`;

/** The message when D1 fails, also in the OpenAPI description. */
export function unavailableMessage({
  definition,
  idempotencyKey,
  readsReplica,
}: Partial<AppEnv['Variables']>): string {
  // It may have waited until a replica has the state of its bookmark.
  if (readsReplica) return `${READ_UNAVAILABLE} To read from the primary, leave out X-D1-Bookmark.`;
  if (definition?.scope !== 'write') return READ_UNAVAILABLE;
  return idempotencyKey === undefined
    ? `${NO_RESPONSE} It is unknown whether ${definition.effect}. ${retryAdvice(definition)}`
    : `${NO_RESPONSE} It is unknown whether the request was carried out. Retry with the same Idempotency-Key: it is carried out at most once.`;
}

/** The advice for a request without an idempotency key. */
function retryAdvice({ safeRetry, acceptsIdempotencyKey }: AuthenticatedDefinition): string {
  if (safeRetry !== undefined) return `A retry is safe: ${safeRetry}`;
  return acceptsIdempotencyKey
    ? 'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.'
    : 'Check before you retry: the same change could overwrite a later one of another client.';
}
