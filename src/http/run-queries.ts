/** Runs the statements of a request, and turns a failure of D1 into an error of the API. */
import { type AuthenticatedContext, logOf } from '../context.ts';
import { execute } from '../d1/execute.ts';
import { ConstraintError, failureKind } from '../d1/failure.ts';
import type { Sql } from '../d1/sql.ts';
import { serviceUnavailable } from '../errors.ts';
import { unavailableMessage } from './unavailable.ts';

/** The rows of each statement, which are trusted to match its type. */
type RowsOf<Statements extends Sql[]> = {
  [Index in keyof Statements]: Statements[Index] extends Sql<infer Row> ? Row[] : never;
};

/**
 * Runs statements in one transaction, in the request's session.
 *
 * @returns the rows of each statement.
 * @throws ApiError 503 if D1 fails or misses its deadline.
 * @throws ConstraintError if a statement violates a constraint: a 500, unless the caller catches
 *   it.
 * @throws Error, a 500, for a mistake, a full database, or a missing migration (locally, a 503).
 *
 * @example
 * const [[pet], orders] = await runQueries(c, selectPet(7n), selectOrdersOf(7n));
 */
export function runQueries<Statements extends Sql[]>(
  c: AuthenticatedContext,
  ...statements: Statements
): Promise<RowsOf<Statements>> {
  return run(c, statements);
}

/** The same for statements that may run twice: after a transient error, they are sent again. */
export function runIdempotent<Statements extends Sql[]>(
  c: AuthenticatedContext,
  ...statements: Statements
): Promise<RowsOf<Statements>> {
  return run(c, statements, () => {
    const log = logOf(c);
    log.d1Retries = (log.d1Retries ?? 0) + 1;
  });
}

async function run<Statements extends Sql[]>(
  c: AuthenticatedContext,
  statements: Statements,
  onRetry?: () => void,
): Promise<RowsOf<Statements>> {
  const log = logOf(c);
  const startedAt = Date.now();
  try {
    const session = c.get('session');
    const results = await execute(session, statements, onRetry);
    // The same in every result of a batch.
    const meta = results[0]?.meta;
    log.d1Attempts = meta?.total_attempts;
    log.d1Region = meta?.served_by_region;
    const bookmark = session.getBookmark();
    if (bookmark) c.header('X-D1-Bookmark', bookmark);
    return results.map((result) => result.results) as RowsOf<Statements>;
  } catch (error) {
    throw responseError(c, error instanceof Error ? error : new Error(String(error)));
  } finally {
    // A retry with an idempotency key waits for D1 twice.
    log.d1Ms = (log.d1Ms ?? 0) + Date.now() - startedAt;
  }
}

/** The error of the response: an ApiError 503, or another Error, a 500. */
function responseError(c: AuthenticatedContext, error: Error): Error {
  switch (failureKind(error)) {
    case 'not migrated':
      return notMigrated(c.env.ENVIRONMENT, error);
    case 'constraint':
      return new ConstraintError(error.message, { cause: error });
    case 'mistake':
      return error;
    case 'unknown outcome':
      return serviceUnavailable(unavailableMessage(c.var), error);
  }
}

/** Says how to apply the migrations: to a developer in the response, to an operator in the log. */
function notMigrated(environment: string, cause: Error): Error {
  if (environment === 'local')
    return serviceUnavailable('The store lacks a migration. Restart it: npm start', cause);
  const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
  return new Error(`${cause.message}. To apply the migrations: ${command}`, { cause });
}
