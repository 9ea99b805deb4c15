/** Time limits: one for a call, and one for each of its attempts and pauses. */
import { StoreError } from './error.ts';

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type Signals = (AbortSignal | undefined)[];

export type TimeLimit = {
  /** Aborted when the time is over, when one of the other signals is aborted, and by `release`. */
  signal: AbortSignal;
  /** Rejects when the signal is aborted: a custom `fetch` may ignore its signal. */
  ended: Promise<never>;
  /** Ends everything that still listens to the signal, and listens to nothing any more. */
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
  const onTimeout = () =>
    controller.abort(new DOMException(`Timeout after ${ms} ms.`, 'TimeoutError'));
  const timer = setTimeout(onTimeout, Math.min(ms, LONGEST_TIMER_MS));
  const onAbort = () => controller.abort();
  for (const other of others) {
    if (other?.aborted) onAbort();
    other?.addEventListener('abort', onAbort);
  }
  function release() {
    clearTimeout(timer);
    // Not by the option `signal` of the listener, with which Node.js keeps memory of every call.
    for (const other of others) other?.removeEventListener('abort', onAbort);
    onAbort();
  }
  return { signal, ended, release };
}

/** Waits until the time is over, or the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { ended, release } = startTimeLimit(ms, [signal]);
  await ended.catch(release);
}

/** The error of a call that the caller aborted. */
export function abortedBy(signals: Signals): StoreError | undefined {
  const signal = signals.find((each) => each?.aborted);
  return signal && new StoreError('aborted', 'The call was aborted.', { cause: signal.reason });
}

/** @throws StoreError */
export function throwIfAborted(signals: Signals): void {
  const error = abortedBy(signals);
  if (error) throw error;
}
