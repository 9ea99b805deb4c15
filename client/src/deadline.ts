/** Time limits: one for a call, and one for each of its attempts and pauses. */

/** A longer timer would fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The reason of an abort by a time limit of this client. A caller's `AbortSignal.timeout` has another reason. */
export class Timeout extends DOMException {}

/**
 * Runs work, and aborts its signal after some milliseconds, or when another signal is aborted. `within` waits for the work, so the
 * work must end when its signal is aborted.
 *
 * @param work - gets the signal, and a promise that is rejected when the signal is aborted
 */
export async function within<T>(
  ms: number,
  others: (AbortSignal | undefined)[],
  work: (signal: AbortSignal, ended: Promise<never>) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  // If the work does not wait for `ended`, the unhandled rejection would end Node.js.
  ended.catch(() => {});
  const timer = setTimeout(
    () => controller.abort(new Timeout(`Timeout after ${ms} ms.`, 'TimeoutError')),
    Math.min(ms, LONGEST_TIMER_MS),
  );
  // Not `AbortSignal.any`: in Node.js 22, each use keeps 2.4 KB while one of the other signals lives.
  function forwardAbort(this: AbortSignal) {
    controller.abort(this.reason);
  }
  for (const other of others) {
    if (other?.aborted) forwardAbort.call(other);
    other?.addEventListener('abort', forwardAbort);
  }
  try {
    return await work(signal, ended);
  } finally {
    clearTimeout(timer);
    // Not removed by the listener's option `signal`: with it, Node.js 22 and 24 use far more memory.
    for (const other of others) other?.removeEventListener('abort', forwardAbort);
    // Ends everything that still listens to the signal.
    controller.abort();
  }
}

/** Waits until the time is over, or the signal is aborted. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return within(ms, [signal], (_, ended) => ended.catch(() => {}));
}
