/** Sends a request, and retries it if that is safe. */
import { StoreError, type StoreErrorCode, type StoreErrorDetails } from './error.ts';
import { parseJson } from './json.ts';
import type { CallOptions, StoreOptions } from './options.ts';
import { nextQuery } from './pages.ts';
import { within } from './within.ts';

/** The bookmark that each request of a session sends. Other requests have none. */
export type Session = { bookmark: string | undefined };

export type Outgoing = {
  method: string;
  /** With its query, below `baseUrl`. */
  path: string;
  body?: string | undefined;
  idempotencyKey?: string | undefined;
  /** Whether it is sent again if an attempt may have been carried out. */
  isRetryable: boolean;
};

/** A successful response. */
export type Reply<T> = { data: T; next: string | undefined };

/** Why an attempt failed. Without a response, there is no `status`. */
type Failure = {
  code: StoreErrorCode;
  message: string;
  status?: number;
  requestId?: string | undefined;
  retryAfterMs?: number;
};

/** A call with all its attempts. */
type Call = {
  request: Outgoing;
  session: Session;
  signal: AbortSignal | undefined;
  maxAttempts: number;
  /** When its deadline is, on the clock of `performance.now()`. */
  endsAt: number;
  attempts: number;
  outcomeUnknown: boolean;
  last?: StoreError;
};

/** Sends a request until an attempt succeeds or fails for good, or the call ends. @throws StoreError */
export async function send<T>(
  store: StoreOptions,
  session: Session,
  request: Outgoing,
  options: CallOptions = {},
): Promise<Reply<T>> {
  const { signal } = options;
  const attemptTimeoutMs = options.attemptTimeoutMs ?? store.attemptTimeoutMs ?? 15_000;
  const maxAttempts = options.maxAttempts ?? store.maxAttempts ?? 4;
  const endsAt = performance.now() + (options.deadlineMs ?? store.deadlineMs ?? 60_000);
  const call: Call = {
    request,
    session,
    signal,
    maxAttempts,
    endsAt,
    attempts: 0,
    outcomeUnknown: false,
  };
  while (!signal?.aborted) {
    call.attempts += 1;
    const ms = Math.min(attemptTimeoutMs, endsAt - performance.now());
    const result = await within(ms, signal, (attemptSignal) =>
      attempt<T>(store, session, request, attemptSignal),
    ).catch((error: unknown) => networkFailure(error, store.apiKey));
    if ('data' in result) return result;
    const pauseMs = pauseAfter(call.attempts, result);
    const end = endOf(call, result, pauseMs);
    if (end) throw end;
    await within(pauseMs, signal, () => new Promise(() => {})).catch(() => {});
  }
  throw abortOf(call);
}

/** The error that ends a call after a failed attempt; `undefined` if the request is sent again. */
function endOf(call: Call, failure: Failure, pauseMs: number): StoreError | undefined {
  call.outcomeUnknown ||= call.request.method !== 'GET' && isUncertain(failure);
  if (call.signal?.aborted) return abortOf(call);
  const leftMs = call.endsAt - performance.now();
  // A timer can fire a millisecond early.
  if (leftMs < 2)
    return errorOf(call, 'deadline_exceeded', 'The deadline is over.', { cause: call.last });
  call.last = errorOf(call, failure.code, failure.message, failure);
  // False for a limit that is NaN: the call ends.
  const isWithinLimits = pauseMs < leftMs && call.attempts < call.maxAttempts;
  return isWithinLimits && isRetried(failure, call.request) ? undefined : call.last;
}

function abortOf(call: Call) {
  return errorOf(call, 'aborted', 'The call was aborted.', { cause: call.signal?.reason });
}

function errorOf(
  { request, session, outcomeUnknown }: Call,
  code: StoreErrorCode,
  message: string,
  { status, requestId, cause }: StoreErrorDetails,
) {
  // The bookmark of a write was perhaps lost, or no replica has reached the bookmark.
  if (session.bookmark && (outcomeUnknown || status === 503)) session.bookmark = 'first-primary';
  const idempotencyKey = outcomeUnknown ? request.idempotencyKey : undefined;
  const details = { status, requestId, cause, outcomeUnknown, idempotencyKey };
  return new StoreError(code, message, details);
}

/** There was no response, a server failed, or a proxy asks for a retry. */
function isTransient({ status = 500 }: Failure) {
  return status >= 500 || status === 408;
}

/** Whether a write may have been carried out. A response below 400 is one of a proxy, which perhaps sent the request on. */
function isUncertain(failure: Failure) {
  return isTransient(failure) || Number(failure.status) < 400;
}

function isRetried(failure: Failure, { isRetryable }: Outgoing) {
  // The store limits the rate before it carries anything out.
  return failure.status === 429 || (isTransient(failure) && isRetryable);
}

/** Milliseconds. A random part, so that clients that failed together do not return together. */
function pauseAfter(attempts: number, { retryAfterMs = 0 }: Failure) {
  const backOffMs = Math.min(125 * 2 ** (attempts - 1), 4_000);
  return backOffMs * (1 + Math.random()) + retryAfterMs * (1 + Math.random() / 4);
}

/** Sends the request once. */
async function attempt<T>(
  { baseUrl, apiKey, fetch: customFetch = fetch }: StoreOptions,
  session: Session,
  { method, path, body, idempotencyKey }: Outgoing,
  signal: AbortSignal,
): Promise<Reply<T> | Failure> {
  const response = await customFetch(baseUrl.replace(/\/$/, '') + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(session.bookmark && { 'x-d1-bookmark': session.bookmark }),
    },
    body: body ?? null,
    signal,
    // A redirect could turn a write into a GET, or send the API key to another server.
    redirect: 'manual',
  });
  moveBookmark(session, response.headers.get('x-d1-bookmark'));
  const text = await response.text();
  const data = parsed(text);
  if (isResult<T>(response, data, method))
    return { data, next: nextQuery(response.headers.get('link')) };
  return responseFailure(response, text, data, apiKey);
}

function responseFailure(
  { status, headers }: Response,
  text: string,
  data: unknown,
  apiKey: string,
): Failure {
  const head = {
    status,
    requestId: hideKey(headers.get('x-request-id') ?? '', apiKey) || undefined,
    // A date is ignored: the store sends seconds.
    retryAfterMs: 1000 * (Number(headers.get('retry-after')) || 0),
  };
  const { code, message } = Object(data);
  if (status >= 400 && typeof code === 'string' && typeof message === 'string')
    return { ...head, code: hideKey(code, apiKey), message: hideKey(message, apiKey) };
  const shown = `Not a response of the store: ${status} ${headers.get('content-type')} ${text}`;
  // The key is hidden before the text is cut, so that no part of it is left.
  return { ...head, code: 'invalid_response', message: hideKey(shown, apiKey).slice(0, 300) };
}

/** Only texts: the error of a custom `fetch` may carry the request, and so the key. */
function networkFailure(error: unknown, apiKey: string): Failure {
  const { message, cause } = Object(error);
  // Node.js gives the reason, such as ECONNREFUSED, only in the cause.
  const reasons = ['The request failed', message, cause?.code ?? cause?.message];
  const text = hideKey(reasons.filter(Boolean).join(': '), apiKey);
  return { code: 'network_error', message: text };
}

/** A server or a custom `fetch` can send the key back, and errors end up in logs. */
function hideKey(text: string, apiKey: string) {
  return text.replaceAll(apiKey, '<API key>');
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Distinguishes the store from a proxy. The service's own tests compare its fields with its description. */
function isResult<T>({ status, ok }: Response, data: unknown, method: string): data is T {
  return status === 204 ? method === 'DELETE' : ok && data instanceof Object;
}

/** Concurrent responses arrive in any order. Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/ */
function moveBookmark(session: Session, received: string | null) {
  const { bookmark } = session;
  if (bookmark && received && (bookmark.startsWith('first-') || received > bookmark))
    session.bookmark = received;
}
