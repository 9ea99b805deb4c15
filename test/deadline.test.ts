/** Deadlines, and the attempts of a transaction within one. */
import { expect, test, vi } from 'vitest';
import { DEADLINE_MS, execute } from '../src/d1/execute.ts';
import { sql } from '../src/d1/sql.ts';
import { withDeadline } from '../src/deadline.ts';

test.each([
  ['resolves', () => Promise.resolve(1)],
  ['rejects', () => Promise.reject(new Error('no'))],
])('no timer is left after a promise %s', async (_, work) => {
  vi.useFakeTimers();
  await withDeadline(work(), 1_000, 'It').catch(() => {});
  expect(vi.getTimerCount()).toBe(0);
});

/** A database whose calls take a time, and then fail. */
function failing(takesMs: number, text: string) {
  const all = vi.fn(async () => {
    await new Promise((resolve) => setTimeout(resolve, takesMs));
    throw new Error(text);
  });
  const statement = { bind: () => statement, all };
  return { database: { prepare: () => statement } as never, all };
}

const LOST = 'Network connection lost';

test.each([
  // A pause of 100 ms, the longest, then of 100 ms, the shortest.
  [10, LOST, 3, 230],
  [10, 'storage caused object to be reset', 3, 230],
  [10, 'reset because its code was updated', 3, 230],
  [10, 'due to transient issue', 3, 230],
  [2_000, LOST, 3, DEADLINE_MS],
  [DEADLINE_MS - 50, LOST, 1, DEADLINE_MS - 50],
  [6_000, LOST, 1, DEADLINE_MS],
  [10, 'D1 DB is overloaded', 1, 10],
])(
  'of attempts that take %i ms, with the error "%s", %i begin, until %i ms',
  async (takesMs, text, attempts, endsAt) => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValueOnce(1).mockReturnValue(0);
    const { database, all } = failing(takesMs, `D1_ERROR: ${text}.`);
    const startedAt = Date.now();
    const onRetry = vi.fn();
    const executing = execute(database, [sql`SELECT 1`], onRetry);
    const failed = executing.catch(() => Date.now() - startedAt);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await failed).toBe(endsAt);
    expect(all).toHaveBeenCalledTimes(attempts);
    expect(onRetry).toHaveBeenCalledTimes(attempts - 1);
  },
);
