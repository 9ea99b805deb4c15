/** Every SQL statement on the records of idempotency keys that is not part of a create. */
import type { Database } from '../database.ts';

/** Removes up to `limit` records that were made at `before` or earlier, the oldest first. */
export function deleteRecords(
  db: Database,
  { before, limit }: { before: number; limit: number },
): Promise<D1Result> {
  return db
    .prepare(
      `DELETE FROM idempotency_keys WHERE (key_id, idempotency_key) IN (
         SELECT key_id, idempotency_key FROM idempotency_keys
         WHERE created_at <= ?1 ORDER BY created_at LIMIT ?2)`,
    )
    .bind(before, limit)
    .run();
}
