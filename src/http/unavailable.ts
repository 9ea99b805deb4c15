/** The messages of a 503: what is unknown, and whether a retry is safe. */
import type { AppEnv } from '../context.ts';
import type { AuthenticatedDefinition } from '../definition.ts';

const NO_RESPONSE = 'The database did not respond.';
const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

type Variables = AppEnv['Variables'];
type WriteDefinition = Extract<AuthenticatedDefinition, { scope: 'write' }>;

/**
 * The message when D1 fails, also in the OpenAPI description. It depends on whether the request has an idempotency key and a
 * session.
 */
export function unavailableMessage(
  definition: AuthenticatedDefinition,
  { idempotencyKey, session }: Pick<Variables, 'idempotencyKey' | 'session'>,
): string {
  if (definition.scope === 'write')
    return `${NO_RESPONSE} ${unknownOutcome(definition, idempotencyKey)}`;
  // A read in a session (the request has X-D1-Bookmark) may wait until a replica has the state of its bookmark.
  return session === undefined
    ? READ_UNAVAILABLE
    : `${READ_UNAVAILABLE} To read from the primary, leave out X-D1-Bookmark.`;
}

/** The message when D1 fails after the transaction of a write was undone. */
export const NOTHING_WRITTEN = `${NO_RESPONSE} This request has changed nothing: retry it.`;

/** The message when a middleware ends a request, such as Hono's `timeout`. */
export function unfinishedMessage({
  definition,
  idempotencyKey,
}: Pick<Variables, 'definition' | 'idempotencyKey'>): string {
  const message = 'The service did not finish the request.';
  return definition?.scope === 'write'
    ? `${message} ${unknownOutcome(definition, idempotencyKey)}`
    : message;
}

function unknownOutcome({ effect, retryAdvice }: WriteDefinition, idempotencyKey?: string): string {
  return idempotencyKey === undefined
    ? `It is unknown whether ${effect}. ${retryAdvice}`
    : 'It is unknown whether the request was carried out. Retry with the same Idempotency-Key: it is carried out at most once.';
}

/** The advice for a create without an idempotency key. */
export const CREATE_ADVICE =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';
