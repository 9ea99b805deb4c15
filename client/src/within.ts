/**
 * A longer timer would fire at once. After a late pause, the time left can be negative, about which
 * Node.js warns.
 */
const timerMs = (ms: number) => Math.min(Math.max(ms, 0), 2 ** 31 - 1);

/**
 * Runs work until the time is over or the outer signal is aborted (it must not be aborted before),
 * and then rejects with the reason, even if the work goes on: a custom `fetch` may ignore its
 * signal.
 */
export async function within<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const ended = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
  const abort = () => controller.abort(new Error(`Timeout after ${ms} ms.`));
  const timer = setTimeout(abort, timerMs(ms));
  // Not `AbortSignal.any`: in Node.js 22, each use keeps memory for as long as the outer signal
  // lives.
  const forward = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', forward);
  try {
    return await Promise.race([ended, work(signal)]);
  } finally {
    clearTimeout(timer);
    outer?.removeEventListener('abort', forward);
  }
}

/** Resolves after the time, or when the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, timerMs(ms));
    signal?.addEventListener('abort', wake);
  });
}
