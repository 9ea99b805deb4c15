import { execute } from './execute.ts';
import { ConstraintError, D1Failure, failureKind } from './failure.ts';
import type { Sql } from './sql.ts';

/** Trusted to match the type of each statement. */
type RowsOf<Statements extends Sql[]> = {
  [Index in keyof Statements]: Statements[Index] extends Sql<infer Row> ? Row[] : never;
};

/** For the log line. */
export type Statistics = {
  /** Milliseconds spent waiting. */
  d1Ms?: number;
  /** D1 retries reads itself. */
  d1Attempts?: number | undefined;
  /** How often the service has sent them again. */
  d1Retries?: number;
  /** Region of the D1 instance that responded. */
  d1Region?: string | undefined;
};

type Options = {
  /** A bookmark, or what `withSession` accepts in its place. */
  start?: string;
  statistics?: Statistics;
  /** Makes the error that is thrown. */
  toError?: (failure: D1Failure) => Error;
};

/**
 * The database, as one request or one run of a cron uses it.
 *
 * @example
 * const db = new Database(env.DB);
 * const [[pet], orders] = await db.run(selectPet(7n), selectOrdersOf(7n));
 */
export class Database {
  readonly #session: D1DatabaseSession;
  readonly readsReplica: boolean;
  /** Of the state after the last transaction. */
  bookmark: string | undefined;
  readonly #statistics: Statistics;
  readonly toError: (failure: D1Failure) => Error;

  constructor(d1: D1Database, options: Options = {}) {
    const { start = 'first-primary', statistics = {}, toError = (failure) => failure } = options;
    this.#session = d1.withSession(start);
    this.readsReplica = start !== 'first-primary';
    this.#statistics = statistics;
    this.toError = toError;
  }

  /**
   * Runs statements in one transaction, and returns the rows of each.
   *
   * @throws ConstraintError; for any other failure, the error of `toError`.
   */
  run<Statements extends Sql[]>(...statements: Statements): Promise<RowsOf<Statements>> {
    return this.#run(statements);
  }

  /** The same, for statements that may be sent again after a transient error. */
  runIdempotent<Statements extends Sql[]>(...statements: Statements): Promise<RowsOf<Statements>> {
    const statistics = this.#statistics;
    return this.#run(statements, () => {
      statistics.d1Retries = (statistics.d1Retries ?? 0) + 1;
    });
  }

  async #run<Statements extends Sql[]>(
    statements: Statements,
    onRetry?: () => void,
  ): Promise<RowsOf<Statements>> {
    const statistics = this.#statistics;
    const startedAt = Date.now();
    try {
      const results = await execute(this.#session, statements, onRetry);
      // The same in every result of a batch.
      const meta = results[0]?.meta;
      statistics.d1Attempts = meta?.total_attempts;
      statistics.d1Region = meta?.served_by_region;
      this.bookmark = this.#session.getBookmark() ?? this.bookmark;
      return results.map((result) => result.results) as RowsOf<Statements>;
    } catch (thrown) {
      throw this.#errorOf(thrown instanceof Error ? thrown : new Error(String(thrown)));
    } finally {
      // A retry with an idempotency key waits for D1 twice.
      statistics.d1Ms = (statistics.d1Ms ?? 0) + Date.now() - startedAt;
    }
  }

  #errorOf(cause: Error): Error {
    const kind = failureKind(cause);
    if (kind === 'constraint') return new ConstraintError(cause.message, { cause });
    return this.toError(new D1Failure(kind, cause));
  }
}
