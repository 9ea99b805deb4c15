/** The scheduled handler: removes the records of idempotency keys that are no longer honoured. */
import { withDeadline } from '../deadline.ts';
import { KEPT_MS } from './header.ts';
import { deleteRecords } from './queries.ts';

/** Records removed by one statement, so that none holds the database up for long. */
const STEP = 1_000;
/** Steps of one run. What is left waits for the next, ten minutes later (wrangler.toml). */
const MAX_STEPS = 50;
const STEP_DEADLINE_MS = 10_000;

/**
 * Removes old records in bounded steps, and logs what it did.
 *
 * @throws what D1 threw, after it was logged: Cloudflare counts the run as failed.
 */
export async function sweep(_: ScheduledController, env: Env): Promise<void> {
  const start = Date.now();
  const result: { removed: number; finished: boolean; cause?: string } = {
    removed: 0,
    finished: false,
  };
  try {
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const deleting = deleteRecords(env.DB, { before: start - KEPT_MS, limit: STEP });
      const { meta } = await withDeadline(deleting, STEP_DEADLINE_MS, 'D1');
      result.removed += meta.changes;
      result.finished = meta.changes < STEP;
      if (result.finished) break;
    }
  } catch (error) {
    result.cause = error instanceof Error ? error.message : String(error);
    throw error;
  } finally {
    console.log(
      JSON.stringify({
        time: new Date(start).toISOString(),
        environment: env.ENVIRONMENT,
        task: 'sweep idempotency keys',
        ...result,
        durationMs: Date.now() - start,
      }),
    );
  }
}
