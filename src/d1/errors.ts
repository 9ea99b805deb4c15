/** Classifies the errors of D1: whether a retry can help, and whose error it is. */
import { DeadlineError } from '../deadline.ts';
import { serviceUnavailable } from '../errors.ts';

/** With these errors nothing was written, so even a write can be retried. https://sqlite.org/rescode.html */
const BUSY = ['SQLITE_BUSY', 'SQLITE_LOCKED', 'database is locked'];

/**
 * Errors that D1 documents as "retry the operation", and SQLite's transient ones.
 * https://developers.cloudflare.com/d1/observability/debug-d1/
 */
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

/** Errors caused by the service or its schema, not by the platform. A retry does not help. */
const OWN =
  /SQLITE_|D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings|cannot store|[Ee]xceeded (D1's )?maximum (DB size|account storage)/;

/** The error raised by the triggers that `npm run writes -- stop` creates. */
export const WRITES_STOPPED = 'writes are stopped';

export function isBusy(error: unknown): boolean {
  return includesOneOf(error, BUSY);
}

export function isTransient(error: unknown): boolean {
  return includesOneOf(error, TRANSIENT);
}

function includesOneOf(error: unknown, texts: string[]): boolean {
  return error instanceof Error && texts.some((text) => error.message.includes(text));
}

/** Whether this worker or its schema caused the error, not the platform. */
export function isOwnError(error: unknown): error is Error {
  if (!(error instanceof Error) || error instanceof DeadlineError) return false;
  // D1 throws plain Errors. A TypeError, for example, comes from the service's code.
  if (error.name !== 'Error') return true;
  return OWN.test(error.message) && !isTransient(error);
}

/** The error to throw for an own error: with the fix for operators if it is known; a 503 while writes are stopped. */
export function explainedError(error: Error, environment: string): Error {
  const { message } = error;
  if (message.includes(WRITES_STOPPED)) {
    const stopped = 'Writes are temporarily stopped; reads still work. Retry later.';
    return serviceUnavailable(stopped, error);
  }
  if (/no such (table|column)/.test(message)) {
    if (environment === 'local') return serviceUnavailable('The store is not set up.', error);
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
