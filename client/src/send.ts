/** Sends a request: attempts, pauses, and which failures are retried. */
import { attempt, type Client, type Outgoing } from './attempt.ts';
import { pause, type Signals, throwIfAborted, timeoutError, within } from './deadline.ts';
import { type CallRecord, errorOf, type Failure } from './failure.ts';
import type { Reply } from './types.ts';

const FIRST_PAUSE_MS = 125;
const LONGEST_PAUSE_MS = 4_000;

/** @throws StoreError */
export function send<T>(client: Client, request: Outgoing, signals: Signals): Promise<Reply<T>> {
  return within(client.deadlineMs, signals, (signal) =>
    sendUntil<T>(client, request, signals, signal),
  );
}

/** Sends until an attempt succeeds, nothing may be retried, or the signal is aborted. */
async function sendUntil<T>(
  client: Client,
  request: Outgoing,
  callerSignals: Signals,
  signal: AbortSignal,
): Promise<Reply<T>> {
  const endsAt = performance.now() + client.deadlineMs;
  const call: CallRecord = { attempts: 0 };
  let last: Failure | undefined;
  while (!signal.aborted) {
    const result = await attempt<T>(client, request, call, signal);
    if ('data' in result) return result;

    recordFailure(call, result, request);
    restartSessionIfStale(client, call, result);
    // The attempt was interrupted, so its failure is not why the call ends. The record has what the attempt may have changed.
    if (signal.aborted) break;

    last = result;
    const pauseMs = pauseAfter(call, last);
    const isInTime = performance.now() + pauseMs < endsAt;
    if (!isInTime || !shouldRetry(client, request, call, last)) break;
    await pause(pauseMs, signal);
  }
  throwIfAborted(callerSignals, call);
  // The time is over, or the last attempt failed.
  throw errorOf(finalFailure(client, call, signal, last), call);
}

function shouldRetry(client: Client, request: Outgoing, call: CallRecord, failure: Failure) {
  if (call.attempts >= client.maxAttempts) return false;
  // The attempt did nothing.
  if (wasNeverProcessed(failure)) return true;
  // The attempt may have changed something, and a second one could overwrite what other clients changed since.
  const { isRetryable = request.method !== 'PATCH' } = request;
  if (!isRetryable) return false;
  // The next attempt may succeed. After any other failure, it would fail again.
  return isTransient(failure);
}

/** Rejected by the rate limiter, or not sent. */
function wasNeverProcessed({ metadata, isUnsent }: Failure) {
  return metadata ? metadata.status === 429 : isUnsent;
}

/** No complete response, a server that failed, or a proxy that asks to send the request again (408 and 425). */
function isTransient({ code, metadata }: Failure) {
  const { status = 0 } = metadata ?? {};
  return code === 'network_error' || status >= 500 || status === 408 || status === 425;
}

/** Whether a write was perhaps carried out, or still will be. */
function mayBeCarriedOut(failure: Failure, { method }: Outgoing) {
  if (method === 'GET' || wasNeverProcessed(failure)) return false;
  if (isTransient(failure)) return true;
  // A 2xx or a redirect that is not from the store. A browser gives a redirect the status 0.
  const { code, metadata } = failure;
  return code === 'invalid_response' && !!metadata && metadata.status < 400;
}

/** Adds what a failure shows to the record. `attempt` itself counts the attempts. */
function recordFailure(call: CallRecord, failure: Failure, request: Outgoing) {
  call.requestId = failure.metadata?.requestId ?? call.requestId;
  if (!mayBeCarriedOut(failure, request)) return;
  call.outcomeUnknown = true;
  call.idempotencyKey = request.headers['idempotency-key'];
}

/** Continues from the primary, if the session may have a bookmark that is too old, or that no replica has reached. */
function restartSessionIfStale({ session }: Client, call: CallRecord, { metadata }: Failure) {
  // A lost response had a newer bookmark. A 503 can mean that no replica has reached that of the session.
  const isStale = call.outcomeUnknown || metadata?.status === 503;
  if (session && isStale) session.bookmark = { value: 'first-primary' };
}

/** The milliseconds before the next attempt. The sum of both pauses grows, even if every response asks for the same time. */
function pauseAfter({ attempts }: CallRecord, { metadata }: Failure) {
  // Both are longer at random, so that clients that failed together do not return together.
  const backOff = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  const retryAfterMs = 1000 * (metadata?.retryAfterSeconds ?? 0);
  return backOff * (1 + Math.random()) + retryAfterMs * (1 + Math.random() / 4);
}

/** The last failure. If the time is over: `deadline_exceeded`, whose cause is a timeout, whose cause is the last failure. */
function finalFailure(
  { deadlineMs }: Client,
  call: CallRecord,
  signal: AbortSignal,
  last?: Failure,
): Failure {
  if (last && !signal.aborted) return last;
  const cause = timeoutError(deadlineMs);
  if (last) cause.cause = errorOf(last, call);
  return { code: 'deadline_exceeded', message: cause.message, cause };
}
