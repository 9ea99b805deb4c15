/** Classifies the errors of D1, and has the messages of its 503s. */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';
import { serviceUnavailable } from '../errors.ts';

/**
 * SQLite's result codes, without those that a failure of the platform can cause: BUSY, LOCKED, INTERRUPT and IOERR.
 * https://sqlite.org/rescode.html
 */
const SQLITE_MISTAKE = /SQLITE_(?!BUSY|LOCKED|INTERRUPT|IOERR)/;

/** Texts of D1. https://developers.cloudflare.com/d1/observability/debug-d1/ */
const D1_MISTAKE =
  /D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings|cannot store/;

/** The database or the account is full, or AUTOINCREMENT has used the largest id. */
const FULL = /SQLITE_FULL|[Ee]xceeded (D1's )?maximum (DB size|account storage)/;

/**
 * What a failed query shows: `ours` is a mistake of the service or its schema, or a full database, which an operator must
 * fix, and the transaction was rolled back.
 * `unknown` is any failure of the platform: a write may have been carried out, or may still be.
 */
function failureOf(error: Error): 'ours' | 'unknown' {
  // D1's own errors are plain Errors, so these are mistakes in the code.
  if (error instanceof TypeError || error instanceof RangeError) return 'ours';
  const mistakes = [SQLITE_MISTAKE, D1_MISTAKE, FULL];
  return mistakes.some((mistake) => mistake.test(error.message)) ? 'ours' : 'unknown';
}

/** The error to throw for a failed query: a 503, or for a mistake of the service an error with its fix if it is known. */
export function queryError(c: Context<AppEnv>, error: unknown): unknown {
  if (error instanceof Error && failureOf(error) === 'ours') {
    return withFix(error, c.env.ENVIRONMENT);
  }
  return serviceUnavailable(messageOf503(c), error);
}

/** For the log, or in the local environment for the developer. */
function withFix(error: Error, environment: string): Error {
  const { message } = error;
  if (/no such (table|column)/.test(message)) {
    if (environment === 'local') {
      return serviceUnavailable('The store lacks a migration. Restart it: npm start', error);
    }
    const command = `npx wrangler d1 migrations apply DB --remote --env ${environment}`;
    return new Error(`${message}. To apply the migrations: ${command}`, { cause: error });
  }
  if (FULL.test(message)) {
    const reason =
      'The database or the account is full, or the largest id is in use. Nothing was written.';
    return new Error(`${message}. ${reason}`, { cause: error });
  }
  return error;
}

export const READ_UNAVAILABLE = 'The database is temporarily unavailable.';

/** For a read in a session, which may wait until a replica has the state of a bookmark. */
export const SESSION_UNAVAILABLE = `${READ_UNAVAILABLE} To read without waiting for the state of the bookmark, leave out X-D1-Bookmark.`;

/** For a write. `effect` completes "It is unknown …"; `advice` says whether a retry is safe. */
export function unknownOutcome(effect: string, advice: string): string {
  return `The database did not respond. It is unknown ${effect}. ${advice}`;
}

/** The advice for a create without an idempotency key. */
export const CREATE_ADVICE =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';

/** For a create with an idempotency key. */
export const IDEMPOTENT_UNAVAILABLE = unknownOutcome(
  'whether the request was carried out',
  'Retry with the same Idempotency-Key: it is carried out at most once.',
);

/** The message of a 503 when D1 fails. */
function messageOf503(c: Context<AppEnv>): string {
  const operation = c.get('operation');
  if (c.get('idempotencyKey') !== undefined) return IDEMPOTENT_UNAVAILABLE;
  const isSession = operation.scope === 'read' && c.get('bookmark') !== undefined;
  return isSession ? SESSION_UNAVAILABLE : operation.unavailableMessage;
}
