/** Time limits: one for a call, and one for each of its attempts and pauses. */
import type { Failure } from './failure.ts';

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export type Signals = (AbortSignal | undefined)[];

export type TimeLimit = {
  /** Aborted when the time is over, when one of the other signals is aborted, and by `release`. */
  signal: AbortSignal;
  /** Rejects when the signal is aborted. */
  ended: Promise<never>;
  /** Ends everything that still listens to the signal, and listens to nothing any more. */
  release(): void;
};

/** Not `AbortSignal.any`: in Node.js 22, it keeps 2.4 KB for each call while one of the other signals lives. */
export function startTimeLimit(ms: number, others: Signals): TimeLimit {
  const controller = new AbortController();
  const { signal } = controller;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // Perhaps nobody waits for it: an unhandled rejection would end Node.js.
  ended.catch(() => {});
  const onTimeout = () => controller.abort(timeoutError(ms));
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
    controller.abort();
  }
  return { signal, ended, release };
}

export function timeoutError(ms: number, cause?: Error): Error {
  const error = new DOMException(`Timeout after ${ms} ms.`, 'TimeoutError');
  return Object.assign(error, cause && { cause });
}

/** Waits until the time is over, or the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { ended, release } = startTimeLimit(ms, [signal]);
  await ended.catch(release);
}

/** The failure of a call that its caller aborted. */
export function abortOf(signals: Signals): Failure | undefined {
  const signal = signals.find((each) => each?.aborted);
  return signal && { code: 'aborted', message: 'The call was aborted.', cause: signal.reason };
}
