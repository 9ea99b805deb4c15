/** The messages of a 503 when D1 fails: what is unknown, and whether a retry is safe. */
import type { AppEnv } from '../context.ts';
import type { AuthenticatedDefinition } from '../definition.ts';

const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

/**
 * The message of a 503 for an operation, also in the OpenAPI description. It depends on whether the request has an idempotency key
 * and a session.
 */
export function unavailableMessage(
  definition: AuthenticatedDefinition,
  { idempotencyKey, session }: Pick<AppEnv['Variables'], 'idempotencyKey' | 'session'>,
): string {
  if (definition.scope === 'read') {
    // A read in a session (the request has X-D1-Bookmark) may wait until a replica has the state of its bookmark.
    return session === undefined
      ? READ_UNAVAILABLE
      : `${READ_UNAVAILABLE} To read from the primary, leave out X-D1-Bookmark.`;
  }
  return idempotencyKey === undefined
    ? unknownOutcome(definition.effect, definition.retryAdvice)
    : unknownOutcome(
        'the request was carried out',
        'Retry with the same Idempotency-Key: it is carried out at most once.',
      );
}

function unknownOutcome(effect: string, retryAdvice: string): string {
  return `The database did not respond. It is unknown whether ${effect}. ${retryAdvice}`;
}

/** The advice for a create without an idempotency key. */
export const CREATE_ADVICE =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';
