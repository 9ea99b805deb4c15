/** The deadline of a call: its time limit or a signal of the caller, whichever comes first. */
import { StoreError } from './error.ts';

const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export type Deadline = {
  /** Aborted when the call must end. */
  signal: AbortSignal;
  /** The error to reject with after the abort. */
  error(): StoreError;
  /** Resolves after `ms`, or earlier when the call must end. */
  pause(ms: number): Promise<void>;
  /** Rejects when the call must end, even if the work continues: a custom `fetch` may ignore its signal. */
  race<T>(work: Promise<T>): Promise<T>;
  hasTimeFor(ms: number): boolean;
  /** Releases the timer and the caller's signals. */
  release(): void;
};

/** `AbortSignal.any` would do this, but is missing in the first versions of Node.js 20. */
export function startDeadline(ms: number, callerSignals: AbortSignal[]): Deadline {
  const controller = new AbortController();
  const { signal } = controller;
  const abort = () => controller.abort();
  const timer = setTimeout(abort, Math.min(ms, LONGEST_TIMEOUT_MS));
  const endsAt = Date.now() + ms;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Between attempts nothing awaits it: that is no unhandled rejection.
  ended.catch(() => {});
  for (const callerSignal of callerSignals) {
    callerSignal.addEventListener('abort', abort);
    if (callerSignal.aborted) abort();
  }

  return {
    signal,
    error() {
      const aborted = callerSignals.find((callerSignal) => callerSignal.aborted);
      return aborted
        ? new StoreError('aborted', 'The call was aborted.', { cause: aborted.reason })
        : new StoreError('deadline_exceeded', `The call took longer than ${ms} ms.`);
    },
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
    race: (work) => Promise.race([ended, work]),
    // A longer timer would fire at once.
    hasTimeFor: (pauseMs) =>
      !signal.aborted && pauseMs <= LONGEST_TIMEOUT_MS && Date.now() + pauseMs < endsAt,
    release() {
      clearTimeout(timer);
      for (const callerSignal of callerSignals) callerSignal.removeEventListener('abort', abort);
    },
  };
}
