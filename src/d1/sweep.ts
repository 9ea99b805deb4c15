/** The scheduled handler, which removes expired records of idempotency keys and of attempts. */
import { withDeadline } from '../deadline.ts';
import { ATTEMPTS_KEPT_MS } from './attempts.ts';
import { KEPT_MS } from './idempotency/header.ts';

/** How long the records of each table are kept, in milliseconds. */
const TABLES = [
  { table: 'idempotency_keys', keptMs: KEPT_MS },
  { table: 'write_attempts', keptMs: ATTEMPTS_KEPT_MS },
];

/** Maximum number of records that one statement removes, so that none blocks the database for long. */
const STEP_SIZE = 1_000;
/**
 * Maximum duration of a run, in milliseconds. A run starts every ten minutes (wrangler.toml), and Cloudflare allows a
 * scheduled handler fifteen minutes.
 */
const MAX_DURATION_MS = 240_000;
/**
 * Maximum number of statements of a run. D1 allows 1,000 in one invocation.
 * https://developers.cloudflare.com/d1/platform/limits/
 */
const MAX_STEPS = 900;
const STEP_DEADLINE_MS = 10_000;

/**
 * Removes expired records in bounded steps until none is left or the run has reached its limits, and logs the result.
 *
 * @throws the error of D1, after logging it, so that Cloudflare counts the run as failed.
 */
export async function sweep(_: ScheduledController, env: Env): Promise<void> {
  const start = Date.now();
  const tables = [...TABLES];
  let removed = 0;
  let cause: string | undefined;
  try {
    for (let step = 0; step < MAX_STEPS && Date.now() < start + MAX_DURATION_MS; step += 1) {
      const [next] = tables;
      if (!next) break;
      const deleting = deleteOldest(env.DB, next.table, start - next.keptMs);
      const { meta } = await withDeadline(deleting, STEP_DEADLINE_MS, 'D1');
      removed += meta.changes;
      if (meta.changes < STEP_SIZE) tables.shift();
    }
  } catch (error) {
    cause = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    console.log(
      JSON.stringify({
        time: new Date(start).toISOString(),
        environment: env.ENVIRONMENT,
        task: 'sweep idempotency keys',
        removed,
        finished: tables.length === 0,
        cause,
        durationMs: Date.now() - start,
      }),
    );
  }
}

/** Deletes records that were created at `before` or earlier, among the oldest `STEP_SIZE`: ids ascend with time. */
function deleteOldest(db: D1Database, table: string, before: number): Promise<D1Result> {
  return db
    .prepare(
      `DELETE FROM ${table}
       WHERE id IN (SELECT id FROM ${table} ORDER BY id LIMIT ?1) AND created_at <= ?2`,
    )
    .bind(STEP_SIZE, before)
    .run();
}
