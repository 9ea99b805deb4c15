/** What a failed call of D1 shows. */

/**
 * - `not migrated`: the database lacks a table or a column. Nothing was written.
 * - `full`: the database or the account is full, or AUTOINCREMENT has used the largest id. Nothing was written.
 * - `mistake`: the service or its schema has an error. Nothing was written.
 * - `transient`: SQLite or its storage was busy or interrupted. A write may have been carried out.
 * - `unknown`: any other failure of the platform. A write may have been carried out, or may still be.
 */
export type FailureKind = 'not migrated' | 'full' | 'mistake' | 'transient' | 'unknown';

/**
 * Texts of SQLite (https://sqlite.org/rescode.html) and of D1 (https://developers.cloudflare.com/d1/observability/debug-d1/).
 * The first that matches counts.
 */
const KINDS: [text: RegExp, kind: FailureKind][] = [
  [/no such (table|column)/, 'not migrated'],
  [/SQLITE_FULL|[Ee]xceeded (D1's )?maximum (DB size|account storage)/, 'full'],
  [/SQLITE_(BUSY|LOCKED|INTERRUPT|IOERR)/, 'transient'],
  [/SQLITE_/, 'mistake'],
  [
    /D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|cannot store|too many SQL variables|Wrong number of parameter bindings/,
    'mistake',
  ],
];

/** D1 failed. `cause` is what it threw. */
export class DatabaseFailure extends Error {
  readonly kind: FailureKind;

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.kind = kindOf(cause);
  }
}

function kindOf(cause: unknown): FailureKind {
  if (!(cause instanceof Error)) return 'unknown';
  // D1's own errors are plain Errors, so these are mistakes in the code.
  if (cause instanceof TypeError || cause instanceof RangeError) return 'mistake';
  return KINDS.find(([text]) => text.test(cause.message))?.[1] ?? 'unknown';
}
