/** The failures of D1, and whether a write may have happened. */

/** A statement violated a constraint, such as a unique index, so nothing was written. */
export class ConstraintError extends Error {}

/**
 * - `not migrated`: a table or a column is missing. Nothing was written.
 * - `mistake`: D1 rejected the statements, or is full. Nothing was written.
 * - `unknown outcome`: D1 may have carried out a write, or may do so later.
 */
type FailureKind = 'not migrated' | 'mistake' | 'unknown outcome';

/** Any other failure of D1, or a DeadlineError. */
export class D1Failure extends Error {
  readonly kind: FailureKind;
  declare readonly cause: Error;

  constructor(kind: FailureKind, cause: Error) {
    super(cause.message, { cause });
    this.kind = kind;
  }
}

/**
 * Texts of SQLite (https://sqlite.org/rescode.html) and of D1
 * (https://developers.cloudflare.com/d1/observability/debug-d1/). The first that matches counts.
 */
const KINDS: [pattern: RegExp, kind: FailureKind | 'constraint'][] = [
  [/no such (table|column)|has no column named/, 'not migrated'],
  [/SQLITE_FULL|[Ee]xceeded (D1's )?maximum (DB size|account storage)/, 'mistake'],
  // A value of another type, whose code is SQLITE_CONSTRAINT, too.
  [/cannot store/, 'mistake'],
  [/constraint failed|SQLITE_CONSTRAINT/, 'constraint'],
  // Other codes are failures of the platform, such as SQLITE_BUSY.
  [/SQLITE_(ERROR|MISMATCH|RANGE|TOOBIG|AUTH|MISUSE)/, 'mistake'],
  [
    /D1_TYPE_ERROR|D1_COLUMN_NOTFOUND|too many SQL variables|Wrong number of parameter bindings/,
    'mistake',
  ],
];

/** D1's list recommends to retry them. */
const TRANSIENT =
  /Network connection lost|storage caused object to be reset|reset because its code was updated|due to transient issue/;

export function failureKind(error: Error): FailureKind | 'constraint' {
  // D1 throws plain Errors: these are mistakes in our own code.
  if (error instanceof TypeError || error instanceof RangeError) return 'mistake';
  return KINDS.find(([pattern]) => pattern.test(error.message))?.[1] ?? 'unknown outcome';
}

export function isTransient(error: unknown): boolean {
  return error instanceof Error && TRANSIENT.test(error.message);
}
