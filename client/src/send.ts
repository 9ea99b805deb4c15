/** Sends a request: attempts, pauses, and which failures are repeated. */
import { attempt, type Outgoing, type Reply } from './attempt.ts';
import { abortedBy, LONGEST_TIMER_MS, pause, startTimeLimit } from './deadline.ts';
import { StoreError } from './error.ts';
import type { CallOptions } from './options.ts';

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Repeats after a 429, which was not carried out, and after a 5xx or no response if the operation says so.
 *
 * @throws StoreError
 */
export async function send(
  request: Outgoing,
  signals: AbortSignal[],
  { deadlineMs = 60_000, attemptTimeoutMs = 15_000, maxAttempts = 4 }: CallOptions,
): Promise<Reply<unknown>> {
  const call = startTimeLimit(deadlineMs, signals);
  const endsAt = Date.now() + Math.min(deadlineMs, LONGEST_TIMER_MS);
  let attempts = 0;
  let outcomeUnknown = false;
  let requestId: string | undefined;
  let lastFailure: StoreError | undefined;
  const complete = (error: StoreError) =>
    Object.assign(error, { attempts, outcomeUnknown, requestId });
  try {
    while (!call.signal.aborted) {
      attempts += 1;
      const result = await attempt(request, attemptTimeoutMs, call.signal, attempts);
      if (!(result instanceof StoreError)) return result;
      const { code, status = 0, metadata } = result;
      requestId = metadata?.requestId ?? requestId;

      // An earlier attempt deleted it, and its response was lost.
      const isGone = request.method === 'DELETE' && status === 404 && code !== 'not_found';
      if (isGone && outcomeUnknown && metadata) return { data: undefined, metadata };

      const isUnanswered = code === 'network_error' || status >= 500;
      // A browser reports a redirect with status 0, which is a response.
      if (request.method !== 'GET' && (isUnanswered || status < 400)) outcomeUnknown = true;
      if (code === 'network_error' && call.signal.aborted) break;

      const pauseMs = pauseAfter(attempts, metadata?.retryAfterSeconds ?? 0);
      const mayRepeat = status === 429 || (isUnanswered && request.unanswered === 'repeat');
      if (!mayRepeat || attempts >= maxAttempts || Date.now() + pauseMs >= endsAt)
        throw complete(result);
      lastFailure = result;
      await pause(pauseMs, call.signal);
    }
    const message = `The call took longer than ${deadlineMs} ms.`;
    throw complete(
      abortedBy(signals) ?? new StoreError('deadline_exceeded', message, { cause: lastFailure }),
    );
  } finally {
    call.release();
  }
}

/** Doubles up to 8 s. Random, so that clients that failed together do not return together. */
function pauseAfter(attempts: number, retryAfterSeconds: number): number {
  const backOff = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  return backOff * (0.5 + Math.random() / 2) + 1000 * retryAfterSeconds * (1 + Math.random() / 4);
}
