/** Sends a request: attempts, pauses, and which failures are repeated. */
import { attempt, type Client, type Outgoing } from './attempt.ts';
import { abortedBy, pause, type Signals, startTimeLimit } from './deadline.ts';
import { StoreError } from './error.ts';
import { isNotConnected } from './fetch-error.ts';
import type { Reply } from './types.ts';

/** What the attempts of a call have shown: fields of its error. */
type Shown = {
  attempts: number;
  requestId?: string | undefined;
  outcomeUnknown?: boolean;
  idempotencyKey?: string | undefined;
};

/** Proxies answer with 408 and 425 what they would repeat themselves. */
const UNAVAILABLE = [408, 425, 503];

const FIRST_PAUSE_MS = 125;
const LONGEST_PAUSE_MS = 4_000;

/** @throws StoreError */
export async function send<T>(
  client: Client,
  request: Outgoing,
  signals: Signals,
): Promise<Reply<T>> {
  const { signal, release } = startTimeLimit(client.deadlineMs, signals);
  const endsAt = performance.now() + client.deadlineMs;
  let shown: Shown = { attempts: 0 };
  let last: StoreError | undefined;
  try {
    while (!signal.aborted) {
      const result = await attempt<T>(client, request, shown.attempts + 1, signal);
      if (!(result instanceof StoreError)) return result;

      shown = addTo(shown, result, request);
      restartSession(client, shown, result);
      if (signal.aborted) break;

      last = Object.assign(result, shown);
      const pauseMs = pauseAfter(last);
      const msLeft = endsAt - performance.now() - pauseMs;
      if (!mayRepeat(last, request, client.maxAttempts, msLeft)) throw last;
      await pause(pauseMs, signal);
    }
  } finally {
    release();
  }
  throw Object.assign(endOf(signals, signal.reason, last), shown);
}

function mayRepeat(error: StoreError, { isRepeatable }: Outgoing, max: number, msLeft: number) {
  if (error.attempts >= max || msLeft <= 0) return false;
  return isNotCarriedOut(error) || (isRepeatable && isUnanswered(error));
}

/** By the rate limiter, or because nothing was sent. Any request may be repeated. */
function isNotCarriedOut(error: StoreError) {
  const { code, status } = error;
  return status === 429 || (code === 'network_error' && !status && isNotConnected(error));
}

/** It was perhaps carried out, or still will be. */
function isUnanswered({ code, status = 0 }: StoreError) {
  return code === 'network_error' || status >= 500 || UNAVAILABLE.includes(status);
}

/** Adds what a failed attempt shows. */
function addTo(shown: Shown, error: StoreError, { method, headers }: Outgoing): Shown {
  const { code, status = 0, requestId = shown.requestId } = error;
  // A browser reports a redirect with status 0, which is a response.
  const isAccepted = code === 'invalid_response' && status < 400;
  const isUnknown = isAccepted || (isUnanswered(error) && !isNotCarriedOut(error));
  return {
    ...shown,
    // Without a key, nothing is sent.
    attempts: shown.attempts + (code === 'api_key_failed' ? 0 : 1),
    requestId,
    ...(isUnknown &&
      method !== 'GET' && { outcomeUnknown: true, idempotencyKey: headers['idempotency-key'] }),
  };
}

/** Continues from the primary. */
function restartSession({ session }: Client, shown: Shown, { status = 0 }: StoreError) {
  // If the write was carried out, the primary has it. After a 503, no replica may have the state of the bookmark.
  if (session && (shown.outcomeUnknown || UNAVAILABLE.includes(status)))
    session.bookmark = { value: 'first-primary' };
}

/** The milliseconds before the next attempt. */
function pauseAfter({ attempts, metadata }: StoreError) {
  // Both pauses are longer at random, so that clients that failed together do not return together.
  const backOff = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), LONGEST_PAUSE_MS);
  const retryAfterMs = 1000 * (metadata?.retryAfterSeconds ?? 0);
  return backOff * (1 + Math.random()) + retryAfterMs * (1 + Math.random() / 4);
}

/** The error of a call that was aborted or took too long. The last failure is the cause of its cause. */
function endOf(signals: Signals, timeout: Error, last: StoreError | undefined) {
  if (last) timeout.cause = last;
  const aborted = abortedBy(signals);
  return aborted ?? new StoreError('deadline_exceeded', timeout.message, { cause: timeout });
}
