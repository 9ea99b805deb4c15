/** The end of a call: its deadline, or the caller's signal, whichever comes first. */
import { StoreError } from './error.ts';

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export type Deadline = {
  /** Aborted when the call is to end. */
  signal: AbortSignal;
  /** What to reject with once it is. */
  error(): StoreError;
  /** Ends early when the call is to end. */
  pause(ms: number): Promise<void>;
  hasLeft(ms: number): boolean;
  /** Releases the timer and the caller's signal. */
  release(): void;
};

/** By hand: `AbortSignal.any` is missing in the first versions of Node.js 20. */
export function startDeadline(ms: number, callerSignal: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort();
  const timer = setTimeout(abort, Math.min(ms, LONGEST_TIMEOUT_MS));
  const endsAt = Date.now() + ms;
  callerSignal?.addEventListener('abort', abort);
  if (callerSignal?.aborted) abort();

  return {
    signal,
    error: () =>
      callerSignal?.aborted
        ? new StoreError('aborted', 'The call was aborted.', { cause: callerSignal.reason })
        : new StoreError('deadline_exceeded', `The call took longer than ${ms} ms.`),
    pause: (pauseMs) =>
      new Promise((resolve) => {
        const end = () => {
          clearTimeout(pauseTimer);
          signal.removeEventListener('abort', end);
          resolve();
        };
        const pauseTimer = setTimeout(end, pauseMs);
        signal.addEventListener('abort', end);
      }),
    hasLeft: (wantedMs) => !signal.aborted && Date.now() + wantedMs < endsAt,
    release() {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', abort);
    },
  };
}
