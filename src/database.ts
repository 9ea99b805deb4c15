/**
 * Running a query for a request: within its deadline, again where that is safe and can help, measured for
 * the log, and with D1's failures turned into ours.
 * https://developers.cloudflare.com/d1/observability/debug-d1/
 */
import type { Context } from 'hono';
import { withDeadline } from './deadline.ts';
import type { AppEnv } from './env.ts';
import { serviceUnavailable } from './errors.ts';

/** What a query runs on: the primary, or a session that may read from a replica. */
export type Database = D1Database | D1DatabaseSession;

/**
 * What a request may wait for KV and D1 in all, in milliseconds. (What the client takes to send its body
 * does not count.) D1 has no time-out of its own that a client would wait for.
 */
const DEADLINE_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** Longest pause before the second attempt, in milliseconds; twice that before the third. */
const PAUSE_MS = 100;

/** Errors of D1 that are documented as "retry the operation". */
const TRANSIENT = [
  'D1 DB reset because its code was updated.',
  'Internal error while starting up D1 DB storage caused object to be reset.',
  'Network connection lost.',
  'Internal error in D1 DB storage caused object to be reset.',
  'Cannot resolve D1 DB due to transient issue on remote node.',
  "Can't read from request stream because client disconnected.",
];

/** Errors that are no fault of the platform's: to try again, now or later, does not help. */
const OUR_MISTAKE =
  /SQLITE_|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings|cannot store|[Ee]xceeded (D1's )?maximum (DB size|account storage)/;

type Policy = {
  /** To run the query twice does no more than to run it once. */
  isRepeatable: boolean;
  /** The message of the 503, if it comes to that. */
  unavailable: string;
};

/**
 * Runs a query on the database of a request, and returns its rows: three attempts at most, if it is
 * repeatable.
 *
 * @throws ApiError 503 when D1 does not answer in time, or fails; what D1 threw when the mistake is ours.
 */
export async function runQuery<Row>(
  c: Context<AppEnv>,
  { isRepeatable, unavailable }: Policy,
  query: (db: Database) => Promise<D1Result<Row>>,
): Promise<Row[]> {
  const log = c.get('log');
  const session = c.get('session');
  const start = performance.now();
  let isOver = false;
  let lastError: unknown;

  async function attempt(): Promise<D1Result<Row>> {
    for (let count = 1; ; count += 1) {
      log.d1Attempts = count;
      try {
        return await query(session ?? c.env.DB);
      } catch (error) {
        lastError = error;
        if (!isRepeatable || count === MAX_ATTEMPTS || !isTransient(error)) throw error;
      }
      // Jitter: requests that failed together do not come back together.
      const pause = Math.random() * PAUSE_MS * count;
      await new Promise((resolve) => setTimeout(resolve, pause));
      // The answer is given by now: nobody waits for another attempt.
      if (isOver) throw lastError;
    }
  }

  try {
    const remaining = DEADLINE_MS - (log.kvMs ?? 0);
    const { results, meta } = await withDeadline(attempt(), remaining, 'D1');
    if (meta.served_by_region) log.d1Region = meta.served_by_region;
    const bookmark = session?.getBookmark();
    if (bookmark) c.header('X-D1-Bookmark', bookmark);
    return results;
  } catch (error) {
    if (isOurMistake(error)) throw explain(error, c.env.ENVIRONMENT);
    throw serviceUnavailable(unavailable, withHistory(error, lastError));
  } finally {
    isOver = true;
    log.d1Ms = performance.now() - start;
  }
}

/** The error for the log: a deadline does not say what D1 said before. */
function withHistory(error: unknown, lastError: unknown): unknown {
  if (!(error instanceof Error) || !(lastError instanceof Error) || error === lastError)
    return error;
  return new Error(`${error.message}; before that: ${lastError.message}`);
}

function isTransient(error: unknown): boolean {
  return error instanceof Error && TRANSIENT.some((text) => error.message.includes(text));
}

/** D1's errors are plain Errors: a TypeError and its like come from our own code. */
function isOurMistake(error: unknown): error is Error {
  return error instanceof Error && (error.name !== 'Error' || OUR_MISTAKE.test(error.message));
}

/** The error, with what an operator can do about it. */
function explain(error: Error, environment: string): Error {
  const { message } = error;
  if (/no such (table|column)/.test(message)) {
    // On a developer's machine that is how a store begins.
    if (environment === 'local') {
      const cause = new Error(`${message}. Run \`npm start\` once: it sets the store up.`);
      return serviceUnavailable('The local store is not set up yet.', cause);
    }
    const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
    return new Error(`${message}. Migrations are not applied: ${command}`, { cause: error });
  }
  if (/SQLITE_FULL|[Ee]xceeded (D1's )?maximum/.test(message)) {
    const why =
      'The database or the account has no room left, or the last id is used. Nothing was written.';
    return new Error(`${message}. ${why}`, { cause: error });
  }
  return error;
}
