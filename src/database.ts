/**
 * Runs a request's query within its deadline, retries it where that is safe and useful, measures it for the log, and
 * maps D1's errors to ApiErrors.
 * https://developers.cloudflare.com/d1/observability/debug-d1/
 */
import type { Context } from 'hono';
import { withDeadline } from './deadline.ts';
import type { AppEnv } from './env.ts';
import { serviceUnavailable } from './errors.ts';

/** The primary, or a session that may read from a replica. */
export type Database = D1Database | D1DatabaseSession;

/**
 * One budget covers KV and D1 for a request, in milliseconds. It excludes the time in which the client sends its body.
 * D1's own timeout is longer than clients wait.
 */
export const DEADLINE_MS = 5_000;
const MAX_ATTEMPTS = 3;
/** Maximum delay before the second attempt, in milliseconds. The maximum before the third is twice that. */
const RETRY_DELAY_MS = 100;

/**
 * Deadline of a session that begins at a client's bookmark, in milliseconds; part of the budget. No replica ever
 * reaches the state of a forged bookmark, or of one from before the database was restored.
 */
const SESSION_DEADLINE_MS = 2_000;

/** With these errors nothing was written, so even a write can be retried. https://sqlite.org/rescode.html */
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
 * The error raised by the triggers that `npm run writes -- stop` creates. Older versions of the service respond to it
 * with a 500.
 */
export const WRITES_STOPPED = 'writes are stopped';

/** Errors caused by the service, not by the platform. A retry does not help. */
const OWN_ERROR =
  /SQLITE_|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings|cannot store|[Ee]xceeded (D1's )?maximum (DB size|account storage)/;

export const READ: Policy = {
  isRepeatable: true,
  unavailable: 'The database is temporarily unavailable.',
};

/** A write that sets absolute values, or that is recorded under its request id. */
export const REPEATABLE_WRITE: Policy = {
  isRepeatable: true,
  unavailable:
    'The database did not respond. It is unknown whether the change was made: send the same request again.',
};

export type Policy = {
  /** Whether the query is idempotent. */
  isRepeatable: boolean;
  /** The message of a 503. */
  unavailable: string;
};

/**
 * Runs a query or a batch, with at most three attempts where a retry is safe.
 *
 * @throws ApiError 503 when D1 fails or misses the deadline; D1's error when the service caused it.
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
  let hasEnded = false;
  let lastError: unknown;
  /** Whether the database was busy at every attempt so far, so that nothing was written. */
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
          // Jitter keeps requests that failed together from retrying together.
          const delay = Math.random() * RETRY_DELAY_MS * count;
          await new Promise((resolve) => setTimeout(resolve, delay));
        } else if (isOwnError(error)) {
          throw error;
        } else {
          session = c.env.DB.withSession('first-primary');
          isPrimary = true;
        }
      }
      // The response has been sent, so another attempt is useless.
      if (hasEnded) throw lastError;
    }
  }

  try {
    const remaining = DEADLINE_MS - (log.kvMs ?? 0);
    const result = await withDeadline(attempt(), remaining, 'D1');
    const [first]: D1Result[] = Array.isArray(result) ? result : [result];
    const region = first?.meta.served_by_region;
    if (region) log.d1Region = region;
    const next = session?.getBookmark();
    if (next) c.get('headers')['X-D1-Bookmark'] = next;
    return result;
  } catch (error) {
    if (isOwnError(error)) throw withFix(error, c.env.ENVIRONMENT);
    const isBusy = isOnlyBusy && isOneOf(BUSY, error);
    const message = isBusy ? 'The database is busy. Nothing was written.' : unavailable;
    throw serviceUnavailable(message, withEarlierError(error, lastError));
  } finally {
    hasEnded = true;
    log.d1Ms = Math.round(performance.now() - start);
  }
}

/** The error for the log. The message of a deadline alone would hide the D1 error before it. */
function withEarlierError(error: unknown, lastError: unknown): unknown {
  if (!(error instanceof Error) || !(lastError instanceof Error) || error === lastError)
    return error;
  return new Error(`${error.message}; before that: ${lastError.message}`);
}

function isOneOf(texts: string[], error: unknown): boolean {
  return error instanceof Error && texts.some((text) => error.message.includes(text));
}

/** D1's errors are plain Errors. A TypeError, for example, comes from the service's code. */
function isOwnError(error: unknown): error is Error {
  return (
    error instanceof Error &&
    (error.name !== 'Error' || (OWN_ERROR.test(error.message) && !isOneOf(TRANSIENT, error)))
  );
}

/** The error, with its fix for operators. */
function withFix(error: Error, environment: string): Error {
  const { message } = error;
  if (message.includes(WRITES_STOPPED)) {
    const stopped = 'Writes are temporarily stopped; reads still work. Retry later.';
    return serviceUnavailable(stopped, error);
  }
  if (/no such (table|column)/.test(message)) {
    // A new clone has no tables.
    if (environment === 'local') {
      const cause = new Error(`${message}. To set the store up, run \`npm start\` once.`);
      return serviceUnavailable('The local store is not set up yet.', cause);
    }
    const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
    return new Error(`${message}. To apply the migrations: ${command}`, { cause: error });
  }
  if (/SQLITE_FULL|[Ee]xceeded (D1's )?maximum/.test(message)) {
    const reason =
      'The database or the account is full, or the largest id is in use. Nothing was written.';
    return new Error(`${message}. ${reason}`, { cause: error });
  }
  return error;
}
