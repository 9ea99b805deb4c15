/** The kinds of D1's failures, and whether a write may have happened. */

/**
 * - `not migrated`: the database lacks a table or a column of a statement. Nothing was written.
 * - `full`: the database or the account is full, or AUTOINCREMENT has used the largest id. Nothing was written.
 * - `constraint`: a statement violated a constraint. Nothing was written.
 * - `mistake`: D1 rejected the statements, because the service or its schema has an error, and nothing was written; or our own code
 *   threw a TypeError or a RangeError.
 * - `unknown outcome`: any other failure, such as a missed deadline. D1 may have carried out a write, or may do so later.
 */
type FailureKind = 'not migrated' | 'full' | 'constraint' | 'mistake' | 'unknown outcome';

/**
 * The statements violated a constraint, such as a unique index. Nothing was written, because they are one transaction:
 * https://developers.cloudflare.com/d1/worker-api/d1-database/#batch
 */
export class ConstraintError extends Error {}

/**
 * Texts of SQLite (https://sqlite.org/rescode.html) and of D1 (https://developers.cloudflare.com/d1/observability/debug-d1/).
 * The first that matches counts.
 */
const KINDS: [pattern: RegExp, kind: FailureKind][] = [
  [/no such (table|column)|has no column named/, 'not migrated'],
  [/SQLITE_FULL|[Ee]xceeded (D1's )?maximum (DB size|account storage)/, 'full'],
  // A value of another type is a mistake, although its code is SQLITE_CONSTRAINT.
  [/cannot store/, 'mistake'],
  // With or without a code of SQLite.
  [/constraint failed|SQLITE_CONSTRAINT/, 'constraint'],
  // All other codes of SQLite are failures of the platform, such as SQLITE_BUSY and SQLITE_IOERR.
  [/SQLITE_(ERROR|MISMATCH|RANGE|TOOBIG|AUTH|MISUSE)/, 'mistake'],
  // Texts that may come without a code of SQLite.
  [
    /D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings/,
    'mistake',
  ],
];

/** The kind of an error that was thrown while statements were executed. */
export function failureKind(error: Error): FailureKind {
  // D1 throws plain Errors. A TypeError or RangeError is a mistake in our own code.
  if (error instanceof TypeError || error instanceof RangeError) return 'mistake';
  return KINDS.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'unknown outcome';
}
