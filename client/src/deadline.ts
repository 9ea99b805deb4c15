/** Time limits: one for a call, and one for each of its attempts. */
import { StoreError } from './error.ts';

export const LONGEST_TIMER_MS: number = 2 ** 31 - 1;

export type TimeLimit = {
  /** Aborted when the time is over, or with one of the other signals. */
  signal: AbortSignal;
  /** Releases the timer and the other signals. */
  release(): void;
};

/** `AbortSignal.any` would do this, but is missing in the first versions of Node.js 20. */
export function startTimeLimit(ms: number, others: AbortSignal[]): TimeLimit {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(
    () => controller.abort(new Error(`Timeout after ${ms} ms.`)),
    // A longer timer would fire at once.
    Math.min(ms, LONGEST_TIMER_MS),
  );
  for (const other of others) {
    other.addEventListener('abort', abort);
    if (other.aborted) abort();
  }
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      for (const other of others) other.removeEventListener('abort', abort);
    },
  };
}

/** Rejects when the signal is aborted, even if the work continues: a custom `fetch` may ignore its signal. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    if (signal.aborted) abort();
    work.then(resolve, reject);
  });
}

/** Resolves after `ms`, or when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const limit = startTimeLimit(ms, [signal]);
  await abortable(new Promise(() => {}), limit.signal).catch(() => limit.release());
}

/** The error of a call that the caller aborted. */
export function abortedBy(signals: AbortSignal[]): StoreError | undefined {
  const signal = signals.find(({ aborted }) => aborted);
  return signal && new StoreError('aborted', 'The call was aborted.', { cause: signal.reason });
}
