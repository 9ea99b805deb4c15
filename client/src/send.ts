/** Sends a request: attempts, pauses, and which failures are repeated. */
import { attempt, type Client, type Outgoing, type Reply } from './attempt.ts';
import { abortedBy, type Signals, startTimeLimit } from './deadline.ts';
import { StoreError } from './error.ts';
import { type CallOptions, DEFAULT_LIMITS } from './options.ts';

/** What the attempts of a call have shown: fields of its error. */
type Progress = {
  attempts: number;
  outcomeUnknown?: boolean;
  idempotencyKey?: string | undefined;
  requestId?: string;
};

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 8_000;

/**
 * Repeats after a 429, which was not carried out, and after a 5xx or no response if the request is repeatable.
 *
 * @throws StoreError
 */
export async function send<T>(
  client: Client,
  request: Outgoing,
  options: CallOptions,
): Promise<Reply<T>> {
  const signals = [options.signal, client.defaults.signal];
  const limitOf = (name: keyof typeof DEFAULT_LIMITS) =>
    options[name] ?? client.defaults[name] ?? DEFAULT_LIMITS[name];
  const deadlineMs = limitOf('deadlineMs');
  const { signal, release } = startTimeLimit(deadlineMs, signals);
  const endsAt = Date.now() + deadlineMs;
  const progress: Progress = { attempts: 0 };
  let lastFailure: StoreError | undefined;
  try {
    while (!signal.aborted) {
      const result = await attempt<T>(
        client,
        request,
        progress,
        limitOf('attemptTimeoutMs'),
        signal,
      );
      if (!(result instanceof StoreError)) return result;
      record(result, client, request, progress);
      if (signal.aborted) break;

      const pauseMs = pauseAfter(result, request, progress.attempts, limitOf('maxAttempts'));
      if (Date.now() + pauseMs >= endsAt) throw Object.assign(result, progress);
      lastFailure = result;
      // Ends at once when the call must end.
      const pause = startTimeLimit(pauseMs, [signal]);
      await pause.ended.catch(pause.release);
    }
    throw Object.assign(endOf(signals, signal.reason, lastFailure), progress);
  } finally {
    release();
  }
}

/** Adds what a failed attempt shows. */
function record(
  error: StoreError,
  { session }: Client,
  { method, headers }: Outgoing,
  progress: Progress,
): void {
  const { code, status = 0, requestId } = error;
  if (requestId) progress.requestId = requestId;
  // A browser reports a redirect with status 0, which is a response.
  const isAccepted = code === 'invalid_response' && status < 400;
  if (method !== 'GET' && (isAccepted || isUnanswered(error))) {
    progress.outcomeUnknown = true;
    progress.idempotencyKey = headers['idempotency-key'];
  }
  // The primary has that write, if it was carried out. After a 503, no replica may have the state of the bookmark.
  if (session && (progress.outcomeUnknown || status === 503))
    session.bookmark = { start: 'first-primary', newest: '' };
}

function isUnanswered({ code, status = 0 }: StoreError): boolean {
  return code === 'network_error' || status >= 500;
}

/** The milliseconds before the next attempt, or Infinity if there may be none. */
function pauseAfter(
  error: StoreError,
  { isRepeatable }: Outgoing,
  attempts: number,
  maxAttempts: number,
): number {
  const mayRepeat = error.status === 429 || (isRepeatable && isUnanswered(error));
  if (!mayRepeat || attempts >= maxAttempts) return Number.POSITIVE_INFINITY;
  // Doubles up to 8 s. Random, so that clients that failed together do not return together.
  const backOff = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  const retryAfterMs = 1000 * (error.metadata?.retryAfterSeconds ?? 0);
  return backOff * (0.5 + Math.random() / 2) + retryAfterMs * (1 + Math.random() / 4);
}

/** The error of a call that was aborted, or took too long: then its cause has the last failure as its cause. */
function endOf(signals: Signals, timeout: Error, lastFailure: StoreError | undefined): StoreError {
  return (
    abortedBy(signals) ??
    new StoreError('deadline_exceeded', timeout.message, {
      cause: Object.assign(timeout, { cause: lastFailure }),
    })
  );
}
