/**
 * Runs a query for a request: within the request's deadline, repeated where that is safe and can help,
 * measured for the log, with D1's errors mapped to ApiErrors.
 * https://developers.cloudflare.com/d1/observability/debug-d1/
 */
import type { Context } from 'hono';
import { withDeadline } from './deadline.ts';
import type { AppEnv } from './env.ts';
import { serviceUnavailable } from './errors.ts';

/** The primary, or a session that may read from a replica. */
export type Database = D1Database | D1DatabaseSession;

/**
 * The time budget of a request for KV and D1 together, in milliseconds. (The time that the client takes to
 * send its body does not count.) D1's own time-out is longer than a client waits.
 */
const DEADLINE_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** The longest pause before the second attempt, in milliseconds; before the third it is twice that. */
const PAUSE_MS = 100;

/**
 * The part of the budget for a session that begins at a client's bookmark, in milliseconds. A bookmark that was
 * forged or is from a restored database can name a state that no replica will ever reach.
 */
const SESSION_DEADLINE_MS = 2_000;

/** Nothing was written, so that even a write can be repeated. https://sqlite.org/rescode.html */
const BUSY = ['SQLITE_BUSY', 'SQLITE_LOCKED', 'database is locked'];

/** Errors that D1 documents as "retry the operation", and SQLite's transient ones. */
const TRANSIENT = [
  'D1 DB reset because its code was updated.',
  'Internal error while starting up D1 DB storage caused object to be reset.',
  'Network connection lost.',
  'Internal error in D1 DB storage caused object to be reset.',
  'Cannot resolve D1 DB due to transient issue on remote node.',
  "Can't read from request stream because client disconnected.",
  'SQLITE_INTERRUPT',
  'SQLITE_IOERR',
  ...BUSY,
];

/**
 * The error of the triggers that `npm run writes -- stop` puts on the tables. Older versions of the service answer it
 * with a 500.
 */
export const WRITES_STOPPED = 'writes are stopped';

/** Errors of the service, not of the platform: another attempt, now or later, does not help. */
const OWN_ERROR =
  /SQLITE_|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings|cannot store|[Ee]xceeded (D1's )?maximum (DB size|account storage)/;

export const READ: Policy = {
  isRepeatable: true,
  unavailable: 'The database is temporarily unavailable.',
};

/** A write that sets absolute values, or is recorded by its request. */
export const REPEATABLE_WRITE: Policy = {
  isRepeatable: true,
  unavailable:
    'The database did not respond. It is unknown whether the change was made: send the same request again.',
};

export type Policy = {
  /** Running the query twice has the effect of running it once. */
  isRepeatable: boolean;
  /** The message of a 503. */
  unavailable: string;
};

/**
 * Runs a query, or a batch of them, on the database of a request. At most three attempts, where another one
 * is safe.
 *
 * @throws ApiError 503 when D1 fails or does not answer in time; D1's error when the service caused it.
 */
export async function runQuery<Result extends D1Result | D1Result[]>(
  c: Context<AppEnv>,
  { isRepeatable, unavailable }: Policy,
  query: (db: Database) => Promise<Result>,
): Promise<Result> {
  const log = c.get('log');
  const bookmark = c.get('bookmark');
  let session = bookmark === undefined ? undefined : c.env.DB.withSession(bookmark);
  let isPrimary = bookmark === undefined || bookmark === 'first-primary';
  const start = performance.now();
  let isOver = false;
  let lastError: unknown;
  /** Every attempt so far met a busy database: nothing was written. */
  let isOnlyBusy = true;

  async function attempt(): Promise<Result> {
    for (let count = 1; ; count += 1) {
      log.d1Attempts = count;
      try {
        const result = query(session ?? c.env.DB);
        return await (isPrimary
          ? result
          : withDeadline(result, SESSION_DEADLINE_MS, 'The session'));
      } catch (error) {
        lastError = error;
        isOnlyBusy &&= isOneOf(BUSY, error);
        if (isPrimary) {
          const canRepeat = isRepeatable ? isOneOf(TRANSIENT, error) : isOneOf(BUSY, error);
          if (!canRepeat || count === MAX_ATTEMPTS) throw error;
          // Jitter: requests that failed together do not come back together.
          const pause = Math.random() * PAUSE_MS * count;
          await new Promise((resolve) => setTimeout(resolve, pause));
        } else if (isOwnError(error)) {
          throw error;
        } else {
          session = c.env.DB.withSession('first-primary');
          isPrimary = true;
        }
      }
      // The response has been sent: nobody waits for another attempt.
      if (isOver) throw lastError;
    }
  }

  try {
    const remaining = DEADLINE_MS - (log.kvMs ?? 0);
    const result = await withDeadline(attempt(), remaining, 'D1');
    const region = [result].flat()[0]?.meta.served_by_region;
    if (region) log.d1Region = region;
    const next = session?.getBookmark();
    if (next) c.get('headers')['X-D1-Bookmark'] = next;
    return result;
  } catch (error) {
    if (isOwnError(error)) throw explain(error, c.env.ENVIRONMENT);
    const isBusy = isOnlyBusy && isOneOf(BUSY, error);
    const message = isBusy ? 'The database is busy. Nothing was written.' : unavailable;
    throw serviceUnavailable(message, withHistory(error, lastError));
  } finally {
    isOver = true;
    log.d1Ms = Math.round(performance.now() - start);
  }
}

/** The error for the log: a deadline's message lacks D1's earlier error. */
function withHistory(error: unknown, lastError: unknown): unknown {
  if (!(error instanceof Error) || !(lastError instanceof Error) || error === lastError)
    return error;
  return new Error(`${error.message}; before that: ${lastError.message}`);
}

function isOneOf(texts: string[], error: unknown): boolean {
  return error instanceof Error && texts.some((text) => error.message.includes(text));
}

/** D1's errors are plain Errors: a TypeError, for example, comes from our own code. */
function isOwnError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    (error.name !== 'Error' || (OWN_ERROR.test(error.message) && !isOneOf(TRANSIENT, error)))
  );
}

/** The error, with its fix for the operator. */
function explain(error: Error, environment: string): Error {
  const { message } = error;
  if (message.includes(WRITES_STOPPED)) {
    const stopped = 'Writes are temporarily stopped; reads still work. Retry later.';
    return serviceUnavailable(stopped, error);
  }
  if (/no such (table|column)/.test(message)) {
    // On a developer's machine that is how a store begins.
    if (environment === 'local') {
      const cause = new Error(`${message}. Run \`npm start\` once: it sets the store up.`);
      return serviceUnavailable('The local store is not set up yet.', cause);
    }
    const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
    return new Error(`${message}. To apply the migrations: ${command}`, { cause: error });
  }
  if (/SQLITE_FULL|[Ee]xceeded (D1's )?maximum/.test(message)) {
    const why =
      'The database or the account is full, or the largest id is in use. Nothing was written.';
    return new Error(`${message}. ${why}`, { cause: error });
  }
  return error;
}
