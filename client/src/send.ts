/** Sends a request, and retries it if that is safe. */
import { StoreError, type StoreErrorCode, type StoreErrorDetails } from './error.ts';
import { parseJson } from './json.ts';
import type { CallOptions, StoreOptions } from './options.ts';
import { nextQuery } from './pages.ts';
import { sleep, within } from './within.ts';

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
  /** Distinguishes the store from a proxy. */
  isData: (data: unknown) => boolean;
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

/** The limits of a call. */
type Limits = {
  signal: AbortSignal | undefined;
  attemptTimeoutMs: number;
  maxAttempts: number;
  /** On the clock of `performance.now()`. */
  endsAt: number;
};

/** What the attempts of a call have led to. */
type Progress = {
  attempts: number;
  outcomeUnknown: boolean;
  /** The last failure before the current attempt. */
  last?: Failure;
};

/** Sends a request until an attempt succeeds or fails for good, or the call ends. @throws StoreError */
export async function send<T>(
  store: StoreOptions,
  session: Session,
  request: Outgoing,
  options: CallOptions = {},
): Promise<Reply<T>> {
  const limits = limitsOf(store, options);
  const { signal } = limits;
  const progress: Progress = { attempts: 0, outcomeUnknown: false };
  while (!signal?.aborted) {
    const ms = Math.min(limits.attemptTimeoutMs, limits.endsAt - performance.now());
    const result = await within(ms, signal, (attemptSignal) =>
      attempt<T>(store, session, request, attemptSignal),
    ).catch((error: unknown) => networkFailure(error, store.apiKey));
    if ('data' in result) return result;
    progress.attempts += 1;
    progress.outcomeUnknown ||= request.method !== 'GET' && isUncertain(result);
    session.bookmark = bookmarkAfter(session, result, progress);
    const pauseMs = pauseAfter(progress.attempts, result);
    const leftMs = limits.endsAt - performance.now();
    if (signal?.aborted) break;
    const decision = decide(result, request, limits, progress, pauseMs, leftMs);
    if (decision !== 'retry') throw decision;
    progress.last = result;
    await sleep(pauseMs, signal);
  }
  const message = 'The call was aborted.';
  throw errorOf(request, progress, { code: 'aborted', message, cause: signal?.reason });
}

/** The bookmark of a write was perhaps lost, or no replica has reached the bookmark. */
function bookmarkAfter(
  { bookmark }: Session,
  { status }: Failure,
  { outcomeUnknown }: Progress,
): string | undefined {
  return bookmark && (outcomeUnknown || status === 503) ? 'first-primary' : bookmark;
}

function limitsOf(store: StoreOptions, options: CallOptions): Limits {
  return {
    signal: options.signal,
    attemptTimeoutMs: options.attemptTimeoutMs ?? store.attemptTimeoutMs ?? 15_000,
    maxAttempts: options.maxAttempts ?? store.maxAttempts ?? 4,
    endsAt: performance.now() + (options.deadlineMs ?? store.deadlineMs ?? 60_000),
  };
}

/** Whether the request is sent again after a failed attempt, or the error that ends the call. */
function decide(
  failure: Failure,
  request: Outgoing,
  { maxAttempts }: Limits,
  progress: Progress,
  pauseMs: number,
  leftMs: number,
): 'retry' | StoreError {
  // A timer can fire a millisecond early.
  if (leftMs < 2) {
    const cause = progress.last && errorOf(request, progress, progress.last);
    const code = 'deadline_exceeded';
    return errorOf(request, progress, { code, message: 'The deadline is over.', cause });
  }
  const error = errorOf(request, progress, failure);
  if (!isRetried(failure, request)) return error;
  // False for a limit that is NaN: the call ends.
  return pauseMs < leftMs && progress.attempts < maxAttempts ? 'retry' : error;
}

function errorOf(
  request: Outgoing,
  { outcomeUnknown }: Progress,
  { code, message, status, requestId, cause }: Failure & StoreErrorDetails,
) {
  const idempotencyKey = outcomeUnknown ? request.idempotencyKey : undefined;
  return new StoreError(code, message, {
    status,
    requestId,
    cause,
    outcomeUnknown,
    idempotencyKey,
  });
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
  { method, path, body, idempotencyKey, isData }: Outgoing,
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
  const isResult = response.status === 204 ? method === 'DELETE' : response.ok && isData(data);
  if (isResult) return { data: data as T, next: nextQuery(response.headers.get('link')) };
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
    requestId: safeText(headers.get('x-request-id') ?? '', apiKey) || undefined,
    // A date is ignored: the store sends seconds.
    retryAfterMs: 1000 * Math.max(Number(headers.get('retry-after')) || 0, 0),
  };
  const { code, message } = Object(data);
  if (status >= 400 && typeof code === 'string' && typeof message === 'string')
    return { ...head, code: safeText(code, apiKey), message: safeText(message, apiKey) };
  const shown = `Not a response of the store: ${status} ${headers.get('content-type')} ${text}`;
  return { ...head, code: 'invalid_response', message: safeText(shown, apiKey, 300) };
}

/** Only texts: the error of a custom `fetch` may carry the request, and so the key. */
function networkFailure(error: unknown, apiKey: string): Failure {
  const { message, cause } = Object(error);
  // Node.js gives the reason, such as ECONNREFUSED, only in the cause.
  const reasons = ['The request failed', message, cause?.code ?? cause?.message];
  const text = safeText(reasons.filter(Boolean).join(': '), apiKey);
  return { code: 'network_error', message: text };
}

/** Control and format characters, lone surrogates and line separators, which can forge a line of a log. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

/**
 * A text of a server or of a custom `fetch`, for a log: without the key, at most as long as the
 * longest message of the store, and with escapes. The key is hidden first, so that no part of it is left.
 */
function safeText(text: string, apiKey: string, maxLength = 4096): string {
  const shown = text.replaceAll(apiKey, '<API key>').slice(0, maxLength);
  return shown.replace(UNSAFE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Concurrent responses arrive in any order. Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/ */
function moveBookmark(session: Session, received: string | null) {
  const { bookmark } = session;
  if (bookmark && received && (bookmark.startsWith('first-') || received > bookmark))
    session.bookmark = received;
}
