/** The kinds of D1's failures, and whether a write may have happened. */

/**
 * - `not migrated`: the database lacks a table or a column of a statement. Nothing was written.
 * - `full`: the database or the account is full, or AUTOINCREMENT has used the largest id. Nothing was written.
 * - `mistake`: D1 rejected the statements, because the service or its schema has an error, and nothing was written; or our own code
 *   threw a TypeError or a RangeError.
 * - `unknown outcome`: any other failure, such as a missed deadline. D1 may have carried out a write, or may do so later.
 */
type FailureKind = 'not migrated' | 'full' | 'mistake' | 'unknown outcome';

/**
 * Texts of SQLite (https://sqlite.org/rescode.html) and of D1 (https://developers.cloudflare.com/d1/observability/debug-d1/).
 * The first that matches counts.
 */
const KINDS: [pattern: RegExp, kind: FailureKind][] = [
  [/no such (table|column)|has no column named/, 'not migrated'],
  [/SQLITE_FULL|[Ee]xceeded (D1's )?maximum (DB size|account storage)/, 'full'],
  // The platform is busy, or its storage fails. The service treats all other codes of SQLite as mistakes.
  [/SQLITE_(BUSY|LOCKED|INTERRUPT|IOERR)/, 'unknown outcome'],
  [/SQLITE_/, 'mistake'],
  // Texts that may come without a code of SQLite.
  [
    /D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|cannot store|too many SQL variables|Wrong number of parameter bindings/,
    'mistake',
  ],
];

/** The kind of an error that was thrown while statements were executed. */
export function failureKind(error: Error): FailureKind {
  // D1 throws plain Errors. A TypeError or RangeError is a mistake in our own code.
  if (error instanceof TypeError || error instanceof RangeError) return 'mistake';
  return KINDS.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'unknown outcome';
}
