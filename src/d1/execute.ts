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

/** The type of the rows of a statement. */
type RowOf<Statement> = Statement extends Sql<infer Row> ? Row : never;

/** The first row of each statement, or `undefined` for a statement that returned none. */
export type FirstRows<S extends Statements> = { [Name in keyof S]: RowOf<S[Name]> | undefined };

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
  const session = sessionStart === undefined ? undefined : database.withSession(sessionStart);
  const executing = executeAll(session ?? database, Object.values(statements));
  const results = await withDeadline(executing, DEADLINE_MS, 'D1');
  const rows = firstRows(statements, results);
  // `runQueries` logs `total_attempts` and `served_by_region`, which are the same in every result of a batch.
  return { rows, bookmark: session?.getBookmark(), meta: results.at(-1)?.meta };
}

async function executeAll(
  database: D1Database | D1DatabaseSession,
  statements: Sql[],
): Promise<D1Result[]> {
  const prepared = statements.map((statement) => prepare(database, statement));
  const [only] = prepared;
  // Not a batch: Cloudflare does not document that D1 retries a batch that only reads.
  if (only && prepared.length === 1) return [await only.all()];
  return database.batch(prepared);
}

export function prepare(
  database: D1Database | D1DatabaseSession,
  { text, values }: Sql,
): D1PreparedStatement {
  return database.prepare(text).bind(...values);
}

function firstRows<S extends Statements>(statements: S, results: D1Result[]): FirstRows<S> {
  const names = Object.keys(statements);
  const entries = names.map((name, index) => [name, results[index]?.results[0]]);
  // `Object.fromEntries` returns `any` here, so no compiler checks the rows: they are trusted to match the type of their statement.
  return Object.fromEntries(entries);
}
