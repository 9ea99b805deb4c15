/** Deadlines, and the attempts of a transaction within one. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { DEADLINE_MS, execute } from '../src/d1/execute.ts';
import { sql } from '../src/d1/sql.ts';
import { withDeadline } from '../src/deadline.ts';

function useFakeTimers() {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
}

test.each([
  ['resolves', () => Promise.resolve(1)],
  ['rejects', () => Promise.reject(new Error('no'))],
])('no timer is left after a promise %s', async (_, work) => {
  useFakeTimers();
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

test.each([
  ...[
    'Network connection lost',
    'storage caused object to be reset',
    'reset because its code was updated',
    'due to transient issue',
    // Pauses of 75 and 150 ms.
  ].map((text) => ({ takesMs: 10, text, attempts: 3, endsAt: 255 })),
  { takesMs: 2_000, text: 'Network connection lost', attempts: 3, endsAt: DEADLINE_MS },
  {
    takesMs: DEADLINE_MS - 50,
    text: 'Network connection lost',
    attempts: 1,
    endsAt: DEADLINE_MS - 50,
  },
  { takesMs: 6_000, text: 'Network connection lost', attempts: 1, endsAt: DEADLINE_MS },
  { takesMs: 10, text: 'D1 DB is overloaded', attempts: 1, endsAt: 10 },
])(
  'of attempts that take $takesMs ms, $attempts begin within the deadline: $text',
  async (each) => {
    useFakeTimers();
    const random = vi.spyOn(Math, 'random').mockReturnValue(0.5);
    onTestFinished(() => random.mockRestore());
    const { database, all } = failing(each.takesMs, `D1_ERROR: ${each.text}.`);
    const startedAt = Date.now();
    const onRetry = vi.fn();
    const executing = execute(database, [sql`SELECT 1`], onRetry);
    const failed = executing.catch(() => Date.now() - startedAt);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await failed).toBe(each.endsAt);
    expect(all).toHaveBeenCalledTimes(each.attempts);
    expect(onRetry).toHaveBeenCalledTimes(each.attempts - 1);
  },
);
