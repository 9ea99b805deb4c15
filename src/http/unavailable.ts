/** The response to a failure of D1: in a 503, what is unknown, and whether a retry is safe. */
import type { AppContext } from '../context.ts';
import type { D1Failure } from '../d1/failure.ts';
import { type ApiError, serviceUnavailable } from '../errors.ts';
import type { AuthenticatedDefinition, OperationDefinition } from '../operation/definition.ts';
import { idempotencyKeyOf } from './request-headers.ts';

const NO_RESPONSE = 'The database did not respond.';
const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

/** The error of the response: an ApiError 503, or another Error, a 500. */
export function databaseError(c: AppContext, { kind, cause }: D1Failure): Error {
  switch (kind) {
    case 'not migrated':
      return notMigrated(c.env.ENVIRONMENT, cause);
    case 'mistake':
      return cause;
    case 'unknown outcome':
      return unavailable(c, cause);
  }
}

/** For a developer in the response, for an operator in the log. */
function notMigrated(environment: string, cause: Error): Error {
  if (environment === 'local')
    return serviceUnavailable('The store lacks a migration. Restart it: npm start', cause);
  const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
  return new Error(`${cause.message}. To apply the migrations: ${command}`, { cause });
}

/** The 503 of a request that may have been carried out. */
export function unavailable(c: AppContext, cause: Error): ApiError {
  const isKeyed = idempotencyKeyOf(c) !== undefined;
  return serviceUnavailable(
    unavailableMessage(c.get('definition'), isKeyed, c.get('db')?.readsReplica),
    cause,
  );
}

/** Also in the OpenAPI description. `isKeyed`: the request has an `Idempotency-Key`. */
export function unavailableMessage(
  definition: OperationDefinition | undefined,
  isKeyed: boolean,
  readsReplica = false,
): string {
  // It may have waited until a replica has the state of its bookmark.
  if (readsReplica) return `${READ_UNAVAILABLE} To read from the primary, leave out X-D1-Bookmark.`;
  if (definition?.scope !== 'write') return READ_UNAVAILABLE;
  return definition.acceptsIdempotencyKey && isKeyed
    ? `${NO_RESPONSE} It is unknown whether the request was carried out. Retry with the same Idempotency-Key: it is carried out at most once.`
    : `${NO_RESPONSE} It is unknown whether ${definition.effect}. ${retryAdvice(definition)}`;
}

function retryAdvice({ safeRetry, acceptsIdempotencyKey }: AuthenticatedDefinition): string {
  if (safeRetry !== undefined) return `A retry is safe: ${safeRetry}`;
  return acceptsIdempotencyKey
    ? 'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.'
    : 'Check before you retry: the same change could overwrite a later one of another client.';
}
