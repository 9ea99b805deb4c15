/** Sends a request, and retries it if that is safe. */
import { StoreError, type StoreErrorCode } from './error.ts';
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
  /** Whether a repeat could overwrite changes of other clients. */
  mayOverwrite?: boolean;
  /** Distinguishes the store from a proxy. */
  isData: (data: unknown) => boolean;
};

/** A successful response. */
export type Reply<T> = { data: T; next: string | undefined };

/** Why an attempt failed, with texts as received. Without a response, there is no `status`. */
type Failure = {
  code: StoreErrorCode;
  message: string;
  status?: number;
  requestId?: string | null;
  retryAfterMs?: number;
};

/** What stays the same during a call. */
type Call = StoreOptions &
  Outgoing & {
    attemptTimeoutMs: number;
    maxAttempts: number;
    /** On the clock of `performance.now()`. */
    endsAt: number;
    signal: AbortSignal | undefined;
  };

/** What the attempts of a call have led to. */
type State = {
  call: Call;
  attempts: number;
  outcomeUnknown: boolean;
  /** Milliseconds before the next attempt. */
  pauseMs: number;
  /** Milliseconds before the deadline. */
  leftMs: number;
  /** The last failure before the current attempt. */
  last?: Failure;
};

/**
 * Sends a request until an attempt succeeds or fails for good, or the call ends.
 * @throws StoreError
 */
export async function send<T>(
  store: StoreOptions,
  session: Session,
  request: Outgoing,
  options: CallOptions = {},
): Promise<Reply<T>> {
  const call = callOf(store, request, options);
  const { signal } = call;
  const state: State = { call, attempts: 0, outcomeUnknown: false, pauseMs: 0, leftMs: 0 };
  while (!signal?.aborted) {
    const ms = Math.min(call.attemptTimeoutMs, call.endsAt - performance.now());
    const result = await within(ms, signal, (attemptSignal) =>
      attempt<T>(call, session, attemptSignal),
    ).catch(networkFailure);
    if ('data' in result) return result;
    state.attempts += 1;
    state.outcomeUnknown ||= request.method !== 'GET' && isUncertain(result);
    state.pauseMs = pauseAfter(state.attempts, result);
    state.leftMs = call.endsAt - performance.now();
    session.bookmark = bookmarkAfter(session, result, state);
    if (signal?.aborted) break;
    const decision = decide(result, state);
    if (decision !== 'retry') throw decision;
    state.last = result;
    await sleep(state.pauseMs, signal);
  }
  throw errorOf({ code: 'aborted', message: 'The call was aborted.' }, state, signal?.reason);
}

function callOf(store: StoreOptions, request: Outgoing, options: CallOptions): Call {
  return {
    ...store,
    ...request,
    signal: options.signal,
    attemptTimeoutMs: options.attemptTimeoutMs ?? store.attemptTimeoutMs ?? 15_000,
    maxAttempts: options.maxAttempts ?? store.maxAttempts ?? 4,
    endsAt: performance.now() + (options.deadlineMs ?? store.deadlineMs ?? 60_000),
  };
}

/** Whether the request is sent again after a failed attempt, or the error that ends the call. */
function decide(failure: Failure, state: State): 'retry' | StoreError {
  const { call, attempts, pauseMs, leftMs, last } = state;
  // A timer can fire a millisecond early.
  if (leftMs < 2) {
    const late = { code: 'deadline_exceeded', message: 'The deadline is over.' };
    return errorOf(late, state, last && errorOf(last, state));
  }
  // The store limits the rate before it carries anything out.
  const isSafe = failure.status === 429 || (isTransient(failure) && !call.mayOverwrite);
  // False for a limit that is NaN: the call ends.
  const isInTime = pauseMs < leftMs && attempts < call.maxAttempts;
  return isSafe && isInTime ? 'retry' : errorOf(failure, state);
}

/** There was no response, a server failed, or a proxy asks for a retry. */
function isTransient({ status = 500 }: Failure) {
  return status >= 500 || status === 408;
}

/**
 * Whether a write may have been carried out. A response below 400 is one of a proxy, which perhaps
 * sent the request on.
 */
function isUncertain(failure: Failure) {
  return isTransient(failure) || Number(failure.status) < 400;
}

/** Milliseconds. A random part, so that clients that failed together do not return together. */
function pauseAfter(attempts: number, { retryAfterMs = 0 }: Failure) {
  const backOffMs = Math.min(125 * 2 ** (attempts - 1), 4_000);
  return backOffMs * (1 + Math.random()) + retryAfterMs * (1 + Math.random() / 4);
}

/** The bookmark of a write was perhaps lost, or no replica has reached the bookmark. */
function bookmarkAfter({ bookmark }: Session, { status }: Failure, { outcomeUnknown }: State) {
  return bookmark && (outcomeUnknown || status === 503) ? 'first-primary' : bookmark;
}

/** Every text of a server, or of a custom `fetch`, becomes safe for a log here. */
function errorOf(
  { code, message, status, requestId }: Failure,
  { call, outcomeUnknown }: State,
  cause?: unknown,
) {
  // No message of the store is longer than 4,096. Of a proxy's page, the start is enough.
  const maxLength = code === 'invalid_response' ? 300 : 4096;
  // The key is hidden before the text is cut, so that no part of the key is left.
  const safe = (text: string) =>
    text.replaceAll(call.apiKey, '<API key>').slice(0, maxLength).replace(UNSAFE, escaped);
  return new StoreError(safe(code), safe(message), {
    status,
    requestId: requestId ? safe(requestId) : undefined,
    outcomeUnknown,
    idempotencyKey: outcomeUnknown ? call.idempotencyKey : undefined,
    ...(cause !== undefined && { cause }),
  });
}

/** Control and format characters, lone surrogates and line separators can forge a log line. */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** Sends the request once. */
async function attempt<T>(
  { baseUrl, apiKey, fetch: customFetch = fetch, method, path, body, idempotencyKey, isData }: Call,
  session: Session,
  signal: AbortSignal,
): Promise<Reply<T> | Failure> {
  const { bookmark } = session;
  const response = await customFetch(baseUrl.replace(/\/$/, '') + path, {
    method,
    headers: {
      authorization: `Bearer ${apiKey}`,
      ...(body && { 'content-type': 'application/json' }),
      ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      ...(bookmark && { 'x-d1-bookmark': bookmark }),
    },
    body: body ?? null,
    signal,
    // A redirect could turn a write into a GET, or send the API key to another server.
    redirect: 'manual',
  });
  moveBookmark(session, bookmark, response.headers.get('x-d1-bookmark'));
  const text = await response.text();
  const data = parsed(text);
  const isResult = method === 'DELETE' ? response.status === 204 : response.ok && isData(data);
  if (isResult) return { data: data as T, next: nextQuery(response.headers.get('link')) };
  return responseFailure(response, text, data);
}

function responseFailure({ status, headers }: Response, text: string, data: unknown): Failure {
  const { code, message } = Object(data);
  const isError = status >= 400 && typeof code === 'string' && typeof message === 'string';
  return {
    status,
    requestId: headers.get('x-request-id'),
    // A date is ignored: the store sends seconds.
    retryAfterMs: 1000 * Math.max(Number(headers.get('retry-after')) || 0, 0),
    code: isError ? code : 'invalid_response',
    message: isError ? message : `Not from the store: ${status} ${text}`,
  };
}

/** Only texts: the error of a custom `fetch` may carry the request, and so the key. */
function networkFailure(error: unknown): Failure {
  const { message, cause } = Object(error);
  // Node.js gives the reason, such as ECONNREFUSED, only in the cause.
  const reasons = ['The request failed', message, cause?.code ?? cause?.message];
  return { code: 'network_error', message: reasons.filter(Boolean).join(': ') };
}

function parsed(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/**
 * Concurrent responses arrive in any order. Bookmarks sort by age:
 * https://developers.cloudflare.com/d1/reference/time-travel/
 */
function moveBookmark(session: Session, sent: string | undefined, received: string | null) {
  const { bookmark } = session;
  if (!bookmark || !received) return;
  // `first-primary` since then: this response may lack a write. It sorts after every bookmark.
  if (received > bookmark || (bookmark === sent && bookmark.startsWith('first')))
    session.bookmark = received;
}
