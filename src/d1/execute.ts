/**
 * Sends the statements of a request to D1 once, and waits until a deadline. D1 itself retries a single statement that only
 * reads. A write is never retried here, because a write that seems to have failed may still take effect.
 * https://developers.cloudflare.com/d1/best-practices/retry-queries/
 */
import { withDeadline } from '../deadline.ts';
import type { Sql } from './sql.ts';

/** Deadline of a request's statements, in milliseconds. D1's own timeout is longer than clients wait. */
export const DEADLINE_MS = 5_000;

/** Statements by name. They are executed in the order in which the object lists them, in one transaction. */
export type Statements = Record<string, Sql>;

/** The first row of each statement, or `undefined` for a statement that returned none. */
export type FirstRows<S extends Statements> = { [Name in keyof S]: NonNullable<S[Name]>['row'] };

/**
 * Executes statements. With `sessionStart` (`first-unconstrained`, `first-primary` or a bookmark, which names a state of the
 * database), they run in a session. A session that starts at a bookmark reads no older state. Without `sessionStart` there is no
 * session, and no bookmark is returned.
 * https://developers.cloudflare.com/d1/worker-api/d1-database/#withsession
 *
 * @returns the first rows, the bookmark of the state that the session has reached, and D1's metadata.
 * @throws the error of D1 (`failureKind`), or DeadlineError.
 */
export async function execute<S extends Statements>(
  database: D1Database,
  statements: S,
  sessionStart?: string,
) {
  const session = sessionStart ? database.withSession(sessionStart) : undefined;
  const target = session ?? database;
  const prepared = Object.values(statements).map((statement) => prepare(target, statement));
  const [first, second] = prepared;
  // A single statement is not a batch: Cloudflare does not document that D1 retries a batch that only reads.
  const executing = first && !second ? Promise.all([first.all()]) : target.batch(prepared);
  const results = await withDeadline(executing, DEADLINE_MS, 'D1');
  // `Object.fromEntries` returns `any` here, so no compiler checks the rows: they are trusted to match the type of their statement.
  const entries = Object.keys(statements).map((name, index) => [name, results[index]?.results[0]]);
  const rows: FirstRows<S> = Object.fromEntries(entries);
  // `runQueries` logs `total_attempts` and `served_by_region`, which are the same in every result of a batch.
  return { rows, bookmark: session?.getBookmark(), meta: results[0]?.meta };
}

export function prepare(database: D1Database | D1DatabaseSession, { text, values }: Sql) {
  return database.prepare(text).bind(...values);
}
