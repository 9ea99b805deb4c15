/**
 * Runs a request's query within its deadline, retries it where that is safe and useful, measures it for the log, and
 * maps D1's errors to ApiErrors.
 */
import type { Context } from 'hono';
import { withDeadline } from '../deadline.ts';
import type { AppEnv } from '../env.ts';
import { serviceUnavailable } from '../errors.ts';
import { sessionBookmark } from './bookmark.ts';
import { explainedError, isBusy, isOwnError, isTransient } from './errors.ts';

/** The primary, or a session that may read from a replica. */
export type Database = D1Database | D1DatabaseSession;

/**
 * Time budget of a request for KV and D1 together, in milliseconds. The time in which the client sends its body does not
 * count. D1's own timeout is longer than clients wait.
 */
export const DEADLINE_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** Maximum delay before the second attempt, in milliseconds. The maximum before the third is twice that. */
const RETRY_DELAY_MS = 100;

/**
 * Deadline of a read from a replica, in milliseconds; part of the budget. A replica waits until it has the state of the
 * bookmark. If a client invented the bookmark, or the database was restored to an earlier state, that never happens.
 */
const REPLICA_DEADLINE_MS = 2_000;

/** An attempt of a request's query: 1 for the first. */
export type Attempt = { requestId: string; number: number };

/** A statement or a transaction whose first row is the outcome. A write uses the attempt: see attempts.ts. */
type Query<Row> = (db: Database, attempt: Attempt) => Promise<D1Result<Row>>;

type Options = {
  /** Whether the query may run again after an attempt that may have written. Default true. */
  isRepeatable?: boolean;
  /** The message of a 503. Default: that of the operation. */
  unavailable?: string;
};

type Attempts = {
  /** The error of each attempt that failed. */
  errors: unknown[];
  /** The request's deadline, in milliseconds since 1970. */
  until: number;
  isRepeatable: boolean;
};

/**
 * Runs a query, with at most three attempts where a retry is safe. A read in a session may use a replica; if that fails,
 * the next attempt uses the primary.
 *
 * @returns the first row of the result.
 * @throws ApiError 503 if D1 fails, misses the deadline or writes are stopped; an own error with its fix.
 */
export async function runQuery<Row>(
  c: Context<AppEnv>,
  query: Query<Row>,
  { isRepeatable = true, unavailable = c.get('operation').unavailable }: Options = {},
): Promise<Row | undefined> {
  const log = c.get('log');
  const start = performance.now();
  const budget = DEADLINE_MS - (log.kvMs ?? 0);
  const attempts: Attempts = { errors: [], until: Date.now() + budget, isRepeatable };
  try {
    const running = runAttempts(c, query, attempts);
    const { result, session } = await withDeadline(running, budget, 'D1');
    if (result.meta.served_by_region) log.d1Region = result.meta.served_by_region;
    const bookmark = session?.getBookmark();
    if (bookmark) c.header('X-D1-Bookmark', bookmark);
    return result.results[0];
  } catch (error) {
    const isWrite = c.get('operation').scope === 'write';
    // A busy database has executed nothing. After any other error, an earlier attempt may have written.
    const mayHaveWritten =
      isWrite && attempts.errors.some((each) => each !== error && !isBusy(each));
    if (isOwnError(error) && !mayHaveWritten) {
      throw explainedError(error, c.env.ENVIRONMENT);
    }
    const isUnwritten = isWrite && isBusy(error) && !mayHaveWritten;
    throw serviceUnavailable(
      isUnwritten ? 'The database is busy. Nothing was written.' : unavailable,
      withEarlierError(error, attempts.errors.at(-1)),
    );
  } finally {
    log.d1Ms = Math.round(performance.now() - start);
  }
}

async function runAttempts<Row>(
  c: Context<AppEnv>,
  query: Query<Row>,
  { errors, until, isRepeatable }: Attempts,
): Promise<{ result: D1Result<Row>; session: D1DatabaseSession | undefined }> {
  const requestId = c.get('requestId');
  let { session, mayUseReplica } = openSession(c);
  for (let number = 1; ; number += 1) {
    c.get('log').d1Attempts = number;
    try {
      const running = query(session ?? c.env.DB, { requestId, number });
      const result = mayUseReplica
        ? withDeadline(running, REPLICA_DEADLINE_MS, 'The session')
        : running;
      return { result: await result, session };
    } catch (error) {
      errors.push(error);
      if (mayUseReplica) {
        session = c.env.DB.withSession('first-primary');
        mayUseReplica = false;
      } else {
        // A busy database has executed nothing, so then any query can run again.
        const canRepeat = isRepeatable ? isTransient(error) : isBusy(error);
        if (!canRepeat || number === MAX_ATTEMPTS) throw error;
        // Jitter keeps requests that failed together from retrying together.
        const delay = Math.random() * RETRY_DELAY_MS * number;
        await new Promise((resolve) => setTimeout(resolve, delay));
      }
      // The request has its response, so another attempt is useless.
      if (Date.now() >= until) throw error;
    }
  }
}

/** The request's session, if it has a bookmark. A write always runs on the primary. */
function openSession(c: Context<AppEnv>): {
  session: D1DatabaseSession | undefined;
  mayUseReplica: boolean;
} {
  const bookmark = sessionBookmark(c);
  if (bookmark === undefined) return { session: undefined, mayUseReplica: false };
  const mayUseReplica = bookmark !== 'first-primary' && c.get('operation').scope === 'read';
  const session = c.env.DB.withSession(mayUseReplica ? bookmark : 'first-primary');
  return { session, mayUseReplica };
}

/** Runs changes and the SELECT of their outcome in one transaction. */
export async function transaction<Outcome>(
  db: Database,
  changes: D1PreparedStatement[],
  outcome: D1PreparedStatement,
): Promise<D1Result<Outcome>> {
  const results = await db.batch<Outcome>([...changes, outcome]);
  const last = results.at(-1);
  if (!last) throw new Error('D1 returned no result for the batch');
  return last;
}

/** The error for the log. The message of a deadline alone would hide the D1 error before it. */
function withEarlierError(error: unknown, earlier: unknown): unknown {
  if (!(error instanceof Error) || !(earlier instanceof Error) || error === earlier) return error;
  return new Error(`${error.message}; before that: ${earlier.message}`);
}
