/** Time limits: one for a call, and one for each of its attempts and pauses. */
import { StoreError } from './error.ts';

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type Signals = (AbortSignal | undefined)[];

export type TimeLimit = {
  /** Aborted when the time is over, or with one of the other signals. */
  signal: AbortSignal;
  /** Rejects when the signal is aborted: a custom `fetch` may ignore its signal. */
  ended: Promise<never>;
  /** Releases the timer and, by aborting the signal, everything that still listens to it or to the other signals. */
  release(): void;
};

/** Not `AbortSignal.any`: it keeps memory of every call while one of the other signals lives. */
export function startTimeLimit(ms: number, others: Signals): TimeLimit {
  const controller = new AbortController();
  const { signal } = controller;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Nobody may be waiting for it.
  ended.catch(() => {});
  const abort = () => controller.abort();
  const timer = setTimeout(
    () => controller.abort(new DOMException(`Timeout after ${ms} ms.`, 'TimeoutError')),
    Math.min(ms, LONGEST_TIMER_MS),
  );
  for (const other of others) {
    other?.addEventListener('abort', abort);
    if (other?.aborted) abort();
  }
  const release = () => {
    clearTimeout(timer);
    // Not by the option `signal` of the listener, with which Node.js keeps memory of every call.
    for (const other of others) other?.removeEventListener('abort', abort);
    abort();
  };
  return { signal, ended, release };
}

/** The error of a call that the caller aborted. */
export function abortedBy(signals: Signals): StoreError | undefined {
  const signal = signals.find((each) => each?.aborted);
  return signal && new StoreError('aborted', 'The call was aborted.', { cause: signal.reason });
}
