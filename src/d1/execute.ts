import { withDeadline } from '../deadline.ts';
import { isTransient } from './failure.ts';
import type { Sql } from './sql.ts';

/** Of all attempts, in milliseconds. D1's own timeout is longer than clients wait. */
export const DEADLINE_MS = 5_000;
/** As often as D1 retries a read. */
const MAX_RETRIES = 2;

type Database = D1Database | D1DatabaseSession;

/**
 * Executes statements in one transaction. Only with `onRetry`, they may be sent again: a write that
 * seems to have failed may take effect late, after the writes of other clients.
 *
 * @throws the error of D1 (`failureKind`), or DeadlineError.
 */
export function execute(
  database: Database,
  statements: Sql[],
  onRetry?: () => void,
): Promise<D1Result[]> {
  const prepared = statements.map((statement) => prepare(database, statement));
  const send = () => sendOnce(database, prepared);
  return withDeadline(onRetry ? sendAgain(send, onRetry) : send(), DEADLINE_MS, 'D1');
}

export function prepare(database: Database, { text, values }: Sql): D1PreparedStatement {
  return database.prepare(text).bind(...values);
}

/** A single statement is sent alone: D1 retries a read, but is not documented to retry a batch. */
async function sendOnce(database: Database, prepared: D1PreparedStatement[]): Promise<D1Result[]> {
  const [first, second] = prepared;
  return first && !second ? [await first.all()] : database.batch(prepared);
}

/** https://developers.cloudflare.com/d1/best-practices/retry-queries/ */
async function sendAgain<T>(send: () => Promise<T>, onRetry: () => void): Promise<T> {
  const startedAt = Date.now();
  for (let retries = 0; ; retries += 1) {
    try {
      return await send();
    } catch (error) {
      const pauseMs = (50 + 50 * Math.random()) * 2 ** retries;
      const isLast = retries === MAX_RETRIES || Date.now() + pauseMs > startedAt + DEADLINE_MS;
      if (isLast || !isTransient(error)) throw error;
      onRetry();
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
}
