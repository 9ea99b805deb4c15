/** The messages of a 503: what is unknown, and whether a retry is safe. */
import type { AppEnv } from '../context.ts';
import type { AuthenticatedDefinition } from '../definition.ts';

const NO_RESPONSE = 'The database did not respond.';
const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

/** What a message depends on. */
type Variables = Pick<AppEnv['Variables'], 'definition' | 'idempotencyKey' | 'session'>;

/** The message when D1 fails, also in the OpenAPI description. */
export function unavailableMessage(variables: Variables): string {
  const outcome = unknownOutcome(variables);
  if (outcome) return `${NO_RESPONSE} ${outcome}`;
  // A read in a session (the request has X-D1-Bookmark) may wait until a replica has the state of its bookmark.
  return variables.session
    ? `${READ_UNAVAILABLE} To read from the primary, leave out X-D1-Bookmark.`
    : READ_UNAVAILABLE;
}

/** The message when D1 fails after the transaction of a write was undone. */
export const NOTHING_WRITTEN = `${NO_RESPONSE} This request has changed nothing: retry it.`;

/** The message when a middleware ends a request, such as Hono's `timeout`. */
export function unfinishedMessage(variables: Variables): string {
  const message = 'The service did not finish the request.';
  const outcome = unknownOutcome(variables);
  return outcome ? `${message} ${outcome}` : message;
}

/** What is unknown of a write. */
function unknownOutcome({ definition, idempotencyKey }: Variables): string | undefined {
  if (definition?.scope !== 'write') return undefined;
  return idempotencyKey === undefined
    ? `It is unknown whether ${definition.effect}. ${retryAdvice(definition)}`
    : 'It is unknown whether the request was carried out. Retry with the same Idempotency-Key: it is carried out at most once.';
}

/** The advice for a request without an idempotency key. */
function retryAdvice({ safeRetry, acceptsIdempotencyKey }: AuthenticatedDefinition): string {
  if (safeRetry !== undefined) return `A retry is safe: ${safeRetry}`;
  return acceptsIdempotencyKey
    ? 'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.'
    : 'Check before you retry: the same change could overwrite a later one of another client.';
}
