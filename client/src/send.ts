/** Sends a request: attempts, pauses, and which failures are retried. */
import { attempt, type Client, type Outgoing } from './attempt.ts';
import { pause, type Signals } from './deadline.ts';
import { StoreError } from './error.ts';
import type { Failure, Reply } from './response.ts';
import { restartIfStale } from './session.ts';

const FIRST_PAUSE_MS = 125;
const LONGEST_PAUSE_MS = 4_000;

/** What is known of a call over all its attempts. */
type CallRecord = {
  attempts: number;
  requestId?: string;
  outcomeUnknown: boolean;
  idempotencyKey?: string | undefined;
};

/**
 * Sends until an attempt succeeds, nothing may be retried, or the call is interrupted.
 *
 * @param signal - aborted by the deadline of the call, or by one of the signals of the caller
 * @throws StoreError
 */
export async function send<T>(
  client: Client,
  request: Outgoing,
  callerSignals: Signals,
  signal: AbortSignal,
): Promise<Reply<T>> {
  const endsAt = performance.now() + client.deadlineMs;
  const call: CallRecord = { attempts: 0, outcomeUnknown: false };
  let last: Failure | undefined;
  while (!signal.aborted) {
    const result = await attempt<T>(client, request, signal);
    recordAttempt(call, result, request);
    if ('data' in result) return { ...result, ...call };

    restartIfStale(client.session, call.outcomeUnknown, result.status);
    // The attempt was interrupted, so its failure is not why the call ends.
    if (signal.aborted) break;
    last = result;
    const pauseMs = pauseAfter(call.attempts, last);
    const isInTime = performance.now() + pauseMs < endsAt;
    if (!isInTime || !shouldRetry(client, request, call, last)) throw errorOf(last, call);
    await pause(pauseMs, signal);
  }
  throw interruption(callerSignals, signal.reason, call, last);
}

function recordAttempt(call: CallRecord, result: Reply<unknown> | Failure, request: Outgoing) {
  // Without a key, no request was sent.
  if (result.code !== 'api_key_failed') call.attempts += 1;
  if (result.requestId) call.requestId = result.requestId;
  if ('data' in result || !mayBeCarriedOut(result, request)) return;
  call.outcomeUnknown = true;
  call.idempotencyKey = request.headers['idempotency-key'];
}

function errorOf({ code, message, ...details }: Failure, call: CallRecord) {
  return new StoreError(code, message, { ...details, ...call });
}

/** A signal of the caller was aborted, or the time is over. */
function interruption(
  callerSignals: Signals,
  timeout: Error,
  call: CallRecord,
  last?: Failure,
): StoreError {
  const aborted = callerSignals.find((each) => each?.aborted);
  const cause = aborted?.reason;
  if (aborted) return errorOf({ code: 'aborted', message: 'The call was aborted.', cause }, call);
  if (last) timeout.cause = errorOf(last, call);
  return errorOf({ code: 'deadline_exceeded', message: timeout.message, cause: timeout }, call);
}

function shouldRetry(client: Client, request: Outgoing, call: CallRecord, failure: Failure) {
  if (call.attempts >= client.maxAttempts) return false;
  // If the attempt was perhaps carried out, a second one could overwrite what other clients changed since.
  return wasNeverProcessed(failure) || (request.isRetryable && isTransient(failure));
}

/** Rejected by the rate limiter, or not sent. */
function wasNeverProcessed({ status, isUnsent }: Failure) {
  return status === undefined ? isUnsent === true : status === 429;
}

/** No complete response, a server that failed, or a proxy that asks to send the request again (408 and 425). */
function isTransient({ code, status = 0 }: Failure) {
  return code === 'network_error' || status >= 500 || status === 408 || status === 425;
}

/** Whether a write was perhaps carried out, or still will be. */
function mayBeCarriedOut(failure: Failure, { method }: Outgoing) {
  if (method === 'GET' || wasNeverProcessed(failure)) return false;
  // A 2xx or a redirect that is not from the store. A browser gives a redirect the status 0.
  const isOfAnother = failure.code === 'invalid_response' && Number(failure.status) < 400;
  return isTransient(failure) || isOfAnother;
}

/** The milliseconds before the next attempt. The sum of both pauses grows, even if every response asks for the same time. */
function pauseAfter(attempts: number, { retryAfterSeconds = 0 }: Failure) {
  // Both are longer at random, so that clients that failed together do not return together.
  const backOff = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  return backOff * (1 + Math.random()) + 1000 * retryAfterSeconds * (1 + Math.random() / 4);
}
