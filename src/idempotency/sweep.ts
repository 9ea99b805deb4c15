/** The scheduled handler, which removes expired records of idempotency keys. */
import { prepare } from '../d1/execute.ts';
import { sql } from '../d1/sql.ts';
import { withDeadline } from '../deadline.ts';
import { KEPT_MS } from './create-once.ts';

/** In records, so that no statement blocks the database for long. */
const STEP_SIZE = 1_000;
/** D1 allows 1,000 in one invocation: https://developers.cloudflare.com/d1/platform/limits/ */
const MAX_STEPS = 900;
const STEP_DEADLINE_MS = 10_000;
/** How long an expired record is kept: a late attempt of the last retry must still find it. */
const LATE_MS = 3_600_000;

/** @throws the error of D1, after logging it, so that Cloudflare counts the run as failed. */
export async function sweepIdempotencyKeys(_: ScheduledController, env: Env): Promise<void> {
  const startedAt = Date.now();
  let removed = 0;
  let finished = false;
  let cause: string | undefined;
  try {
    // Ids ascend with time, and `created_at` has no index.
    const step = prepare(
      env.DB,
      sql`DELETE FROM idempotency_keys
        WHERE id IN (SELECT id FROM idempotency_keys ORDER BY id LIMIT ${STEP_SIZE})
          AND created_at <= ${startedAt - KEPT_MS - LATE_MS}`,
    );
    for (let steps = 0; steps < MAX_STEPS && !finished; steps += 1) {
      const { meta } = await withDeadline(step.run(), STEP_DEADLINE_MS, 'D1');
      removed += meta.changes;
      finished = meta.changes === 0;
    }
  } catch (error) {
    cause = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    const print = cause === undefined ? console.log : console.error;
    print(
      JSON.stringify({
        time: new Date(startedAt).toISOString(),
        environment: env.ENVIRONMENT,
        task: 'sweep idempotency keys',
        removed,
        finished,
        cause,
        durationMs: Date.now() - startedAt,
      }),
    );
  }
}
