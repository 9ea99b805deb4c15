/** Runs the statements of a request, measures them for the log line, and turns a failure of D1 into an error of the API. */
import type { Context } from 'hono';
import type { AuthenticatedEnv } from '../context.ts';
import { execute, type FirstRows, type Statements } from '../d1/execute.ts';
import { failureKind } from '../d1/failure.ts';
import { serviceUnavailable } from '../errors.ts';
import { unavailableMessage } from './unavailable.ts';

/**
 * Runs statements in one transaction, in a session if the request has the header `X-D1-Bookmark` (`sessionStart`).
 *
 * @returns the first row of each statement, under the name of the statement.
 * @throws ApiError 503 if D1 fails or misses its deadline; in the local environment, also if a migration is missing.
 * @throws Error, which becomes a 500, for a mistake in a statement or a full database; in other environments, also if a migration
 *   is missing.
 */
export async function runQueries<S extends Statements>(
  c: Context<AuthenticatedEnv>,
  statements: S,
): Promise<FirstRows<S>> {
  const log = c.get('log');
  const startedAt = Date.now();
  try {
    const { rows, bookmark, meta } = await execute(c.env.DB, statements, c.get('sessionStart'));
    log.d1Attempts = meta?.total_attempts;
    log.d1Region = meta?.served_by_region;
    if (bookmark) c.header('X-D1-Bookmark', bookmark);
    return rows;
  } catch (error) {
    throw responseError(c, error instanceof Error ? error : new Error(String(error)));
  } finally {
    log.d1Ms = Date.now() - startedAt;
  }
}

/** The error of the response: an ApiError 503, or another Error, a 500 that `errorResponse` logs for operators. */
function responseError(c: Context<AuthenticatedEnv>, error: Error): Error {
  switch (failureKind(error)) {
    case 'not migrated':
      return notMigrated(c.env.ENVIRONMENT, error);
    case 'full':
      // SQLite's error is the same for a full database and for the largest id.
      return new Error(
        `${error.message}. The database or the account is full, or the largest id has been used. Nothing was written.`,
        { cause: error },
      );
    case 'mistake':
      return error;
    case 'unknown outcome':
      // The idempotency key and the start of the session are in `c.var`.
      return serviceUnavailable(unavailableMessage(c.get('definition'), c.var), error);
  }
}

/** Says how to apply the migrations: to a developer in the response (`npm start` applies them), to an operator in the log. */
function notMigrated(environment: string, cause: Error): Error {
  if (environment === 'local')
    return serviceUnavailable('The store lacks a migration. Restart it: npm start', cause);
  const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
  return new Error(`${cause.message}. To apply the migrations: ${command}`, { cause });
}
