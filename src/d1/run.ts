/**
 * Runs the statements of a request in D1: once, within a deadline, and measured for the log line. D1 itself repeats
 * reads that fail. A write is never repeated here, because a write that seems to have failed may still take effect.
 * https://developers.cloudflare.com/d1/best-practices/retry-queries/
 */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';
import { withDeadline } from '../deadline.ts';
import { queryError } from './errors.ts';

/** Deadline of a request's statements, in milliseconds. D1's own timeout is longer than clients wait. */
export const DEADLINE_MS = 5_000;

/**
 * A parameter. An int64 is decimal text, because D1 rounds numbers beyond 2^53 and rejects bigints. Small integers are
 * numbers.
 */
export type Value = string | number | null;

/** A SQL statement with the values of its parameters `?1`, `?2`, … `row` is never set: it only carries the type of a row. */
export type Statement<Row = unknown> = { sql: string; values: Value[]; row?: Row };

/** The statements of a request by name. They run in this order, in one transaction. */
export type Statements = Record<string, Statement>;

/** The first row of each statement. A statement that returns no row, or is absent, has `undefined`. */
export type Rows<S extends Statements> = { [Name in keyof S]: NonNullable<S[Name]>['row'] };

export function statement<Row>(sql: string, ...values: Value[]): Statement<Row> {
  return { sql, values };
}

/**
 * Runs statements, in a session if the request carries a bookmark.
 *
 * @returns the first row of each statement, under the name of the statement.
 * @throws ApiError 503 if D1 fails or misses the deadline; another Error for a mistake of the service.
 */
export async function run<S extends Statements>(
  c: Context<AppEnv>,
  statements: S,
): Promise<Rows<S>> {
  const results = await executeOnce(c, Object.values(statements));
  const rows: Record<string, unknown> = {};
  for (const [index, name] of Object.keys(statements).entries()) {
    rows[name] = results[index]?.results[0];
  }
  return rows as Rows<S>;
}

async function executeOnce(c: Context<AppEnv>, statements: Statement[]): Promise<D1Result[]> {
  const log = c.get('log');
  const startedAt = performance.now();
  try {
    const session = openSession(c);
    const executing = execute(session ?? c.env.DB, statements);
    const results = await withDeadline(executing, DEADLINE_MS, 'D1');
    const meta = results.at(-1)?.meta;
    log.d1Attempts = meta?.total_attempts;
    log.d1Region = meta?.served_by_region;
    const bookmark = session?.getBookmark();
    if (bookmark) c.header('X-D1-Bookmark', bookmark);
    return results;
  } catch (error) {
    throw queryError(c, error);
  } finally {
    log.d1Ms = Math.round(performance.now() - startedAt);
  }
}

/** The session of a request with a bookmark. A write always runs on the primary. */
function openSession(c: Context<AppEnv>): D1DatabaseSession | undefined {
  const bookmark = c.get('bookmark');
  if (bookmark === undefined) return undefined;
  const isWrite = c.get('operation').scope === 'write';
  return c.env.DB.withSession(isWrite ? 'first-primary' : bookmark);
}

async function execute(
  db: D1Database | D1DatabaseSession,
  statements: Statement[],
): Promise<D1Result[]> {
  const prepared = statements.map(({ sql, values }) => db.prepare(sql).bind(...values));
  const [only] = prepared;
  // Cloudflare documents that D1 repeats a single statement that only reads. It does not document that for a batch.
  if (only && prepared.length === 1) return [await only.all()];
  return db.batch(prepared);
}
