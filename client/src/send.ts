/** Sends a request in one or more attempts, and decides which failures are retried. */
import { attempt, type Outgoing } from './attempt.ts';
import { pause, Timeout } from './deadline.ts';
import { StoreError } from './error.ts';
import type { Client } from './options.ts';
import type { Failure, Reply } from './response.ts';
import { restartIfStale } from './session.ts';

/** The first and the longest back-off. A random part at most doubles them. */
const FIRST_BACK_OFF_MS = 125;
const LONGEST_BACK_OFF_MS = 4_000;

/** The state of a call over all its attempts. */
type CallRecord = {
  attempts: number;
  requestId?: string;
  outcomeUnknown: boolean;
  idempotencyKey?: string | undefined;
};

/**
 * Sends the request until an attempt succeeds, a failure cannot be retried, or the call is interrupted.
 *
 * @param signal - aborted when the time of the call is over, or by a signal of the caller
 * @throws StoreError, or what a framework threw to leave the caller's code (fetch-error.ts)
 */
export async function send<T>(
  client: Client,
  request: Outgoing,
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
  throw interruption(signal.reason, call, last);
}

function recordAttempt(call: CallRecord, result: Reply<unknown> | Failure, request: Outgoing) {
  // An attempt without a key does not count. A response, which has a status, can carry `api_key_failed`, too.
  if (result.status || result.code !== 'api_key_failed') call.attempts += 1;
  if (result.requestId) call.requestId = result.requestId;
  if ('data' in result || request.method === 'GET') return;
  const kind = kindOf(result);
  if (kind !== 'transient' && kind !== 'foreign') return;
  call.outcomeUnknown = true;
  call.idempotencyKey = request.headers['idempotency-key'];
}

/**
 * What a failure says about the request:
 *
 * - `unprocessed`: It was certainly not carried out.
 * - `transient`: A write was perhaps carried out, or still will be. A retry can succeed.
 * - `foreign`: A write was perhaps carried out, but the response is not one of the store. The request is not sent again.
 * - `final`: The store, or a server in front of it, rejected the request. Or there was no key, and nothing was sent.
 */
function kindOf({ code, status = 0, isUnsent }: Failure) {
  // The store limits the rate before it carries anything out.
  if (status === 429 || isUnsent) return 'unprocessed';
  // No complete response, a server that failed, or a proxy that asks to send the request again (408 and 425).
  if (code === 'network_error' || status >= 500 || status === 408 || status === 425)
    return 'transient';
  // A 2xx or a redirect. A browser gives a redirect the status 0.
  if (code === 'invalid_response' && status < 400) return 'foreign';
  return 'final';
}

function shouldRetry(client: Client, request: Outgoing, call: CallRecord, failure: Failure) {
  if (call.attempts >= client.maxAttempts) return false;
  const kind = kindOf(failure);
  // A request that was perhaps carried out is sent again only if that cannot overwrite what other clients changed since.
  return kind === 'unprocessed' || (kind === 'transient' && request.isRetryable);
}

function errorOf({ code, message, isUnsent, ...details }: Failure, call: CallRecord) {
  return new StoreError(code, message, { ...details, ...call });
}

/** The error of a call whose time is over, or which a signal of the caller aborted. */
function interruption(reason: unknown, call: CallRecord, last?: Failure) {
  if (!(reason instanceof Timeout))
    return errorOf({ code: 'aborted', message: 'The call was aborted.', cause: reason }, call);
  if (last) reason.cause = errorOf(last, call);
  return errorOf({ code: 'deadline_exceeded', message: reason.message, cause: reason }, call);
}

/** The milliseconds before the next attempt: the back-off, which doubles up to the longest, plus the delay of `Retry-After`. */
function pauseAfter(attempts: number, { retryAfterSeconds = 0 }: Failure) {
  // A random part makes both longer, so that clients that failed together do not return together.
  const backOff = Math.min(FIRST_BACK_OFF_MS * 2 ** (attempts - 1), LONGEST_BACK_OFF_MS);
  return backOff * (1 + Math.random()) + 1000 * retryAfterSeconds * (1 + Math.random() / 4);
}
