/**
 * Sends the statements of a request to D1 once, and waits until a deadline. D1 itself retries a single statement that only
 * reads. Cloudflare recommends that the worker retries writes, too:
 * https://developers.cloudflare.com/d1/best-practices/retry-queries/
 * Not here: a write that seems to have failed may take effect late, after its retry and after the writes of other clients. The
 * client can decide that, because the 503 says what is unknown.
 */
import { withDeadline } from '../deadline.ts';
import type { Sql } from './sql.ts';

/** Deadline of a request's statements, in milliseconds. D1's own timeout is longer than clients wait. */
export const DEADLINE_MS = 5_000;

type Database = D1Database | D1DatabaseSession;

/**
 * Executes statements in one transaction, of the database or of a session.
 *
 * @throws the error of D1 (`failureKind`), or DeadlineError.
 */
export function execute(database: Database, statements: Sql[]): Promise<D1Result[]> {
  const prepared = statements.map((statement) => prepare(database, statement));
  return withDeadline(send(database, prepared), DEADLINE_MS, 'D1');
}

export function prepare(database: Database, { text, values }: Sql): D1PreparedStatement {
  return database.prepare(text).bind(...values);
}

/** A single statement is not a batch: Cloudflare does not document that D1 retries a batch that only reads. */
async function send(database: Database, prepared: D1PreparedStatement[]): Promise<D1Result[]> {
  const [only, ...others] = prepared;
  return only && others.length === 0 ? [await only.all()] : database.batch(prepared);
}
