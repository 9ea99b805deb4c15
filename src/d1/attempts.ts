/**
 * Repeated attempts of one write. D1 can report an error for a statement that it executes nevertheless, at once or much
 * later. The table `write_attempts` keeps such an attempt from changing anything, and holds the response of the attempt
 * that succeeded, for an attempt that follows it:
 *
 *     attempt 1  sent ── executed, response lost
 *     other                                      deletes the pet
 *     attempt 2                                                   reads the response of attempt 1: 200
 *
 *     attempt 1  sent ── reported as failed                                       executed late: changes nothing
 *     other                                 orders the pet            cancels the order
 *     attempt 2                                            refused: 409
 *
 * A write is one `fencedTransaction`: the change under the condition `whereNotFenced`, `recordResponse`, and a SELECT of the
 * recorded response. The number of an attempt is a fencing token: an attempt changes nothing once a later one has begun.
 */
import { type Attempt, type Database, transaction } from './database.ts';

/**
 * How long a record is kept, in milliseconds: longer than D1 takes to execute a late attempt. Users report stalls of more
 * than a minute.
 */
export const ATTEMPTS_KEPT_MS = 3_600_000;

/**
 * SQL condition: no later attempt of the request has begun, and none has succeeded. The arguments name the SQL
 * parameters.
 */
export function whereNotFenced(requestId: `?${number}`, attempt: `?${number}`): string {
  return `NOT EXISTS (
    SELECT 1 FROM write_attempts
    WHERE request_id = ${requestId} AND (attempt > ${attempt} OR response IS NOT NULL))`;
}

/** As `transaction`, and fences earlier attempts. */
export function fencedTransaction<Outcome>(
  db: Database,
  { requestId, number }: Attempt,
  changes: D1PreparedStatement[],
  outcome: D1PreparedStatement,
): Promise<D1Result<Outcome>> {
  // No attempt precedes the first, so it writes no fence.
  if (number === 1) return transaction(db, changes, outcome);
  // A fence that D1 executes late must not replace that of a later attempt.
  const fence = db
    .prepare(
      `INSERT INTO write_attempts (request_id, attempt, created_at) VALUES (?1, ?2, ?3)
       ON CONFLICT (request_id) DO UPDATE SET attempt = max(attempt, excluded.attempt)`,
    )
    .bind(requestId, number, Date.now());
  return transaction(db, [fence, ...changes], outcome);
}

/**
 * Records the response of an attempt, if the preceding statement changed a row. `responseSql` selects the body; its
 * parameter ?1 is `id`.
 */
export function recordResponse(
  db: Database,
  { requestId, number }: Attempt,
  id: bigint,
  responseSql: string,
): D1PreparedStatement {
  return db
    .prepare(
      `INSERT INTO write_attempts (request_id, attempt, created_at, response)
       SELECT ?2, ?3, ?4, (${responseSql}) WHERE changes() = 1
       ON CONFLICT (request_id) DO UPDATE SET response = excluded.response`,
    )
    .bind(`${id}`, requestId, number, Date.now());
}
