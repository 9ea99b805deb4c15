/** One attempt: sends the request once, and reads the response. */
import { within } from './deadline.ts';
import type { CallRecord, Failure } from './failure.ts';
import { apiKeyFailure, networkFailure } from './fetch-error.ts';
import { hideKey, MIN_LENGTH_IN_CODES } from './hide-key.ts';
import { parseJson } from './json.ts';
import { metadataOf } from './metadata.ts';
import { checkToken, type DEFAULT_LIMITS } from './options.ts';
import type { FetchInit, FetchResponse, Metadata, Reply, StoreOptions } from './types.ts';

/** The options with their defaults, and the session, if there is one. */
export type Client = StoreOptions &
  typeof DEFAULT_LIMITS & {
    /** A restart of the session (send.ts) replaces `bookmark`. Responses to earlier requests then change only the old object. */
    session?: { bookmark: Bookmark };
  };

/** The newest bookmark of the responses, which names a state of the store's D1 database, or the start of the session. */
type Bookmark = { value: string };

/** What an operation needs. */
export type Operation = {
  /** The parameter of the route. An `object` that is returned must have this id, too. */
  id?: bigint | undefined;
  /** Default: `object`. */
  returns?: Returns;
  /** Whether it is retried after a 5xx or no response. Default: every method but PATCH, because a POST has an Idempotency-Key. */
  isRetryable?: boolean;
};

/** The body of a successful response: that of a 204 is `undefined`. `any` is for operations that this client does not know. */
export type Returns = 'array' | 'object' | 'undefined' | 'any';

/** A request without the headers that can change between attempts. */
export type Outgoing = Operation & Pick<FetchInit, 'method' | 'headers' | 'body'> & { url: string };

/** In characters: more than the largest page. No deadline can act while this is parsed, so it must not take long. */
const MAX_RESPONSE_LENGTH = 2 ** 19;

/**
 * Three mechanisms end an attempt in time, because no one of them is enough:
 *
 * - The signal asks `fetch` to end. It closes the connection. A custom `fetch` may ignore it.
 * - The race with `ended` ends the attempt, whatever `fetch` and `apiKey` do. What they began goes on.
 * - `readText` cancels the body: also of a response that comes after the end.
 *
 * An attempt that ends without a complete response is a `network_error`, or an `api_key_failed` if it had no key yet.
 */
export function attempt<T>(
  { apiKey, fetch, session, attemptTimeoutMs }: Client,
  request: Outgoing,
  call: CallRecord,
  callSignal: AbortSignal,
): Promise<Reply<T> | Failure> {
  const bookmark = session?.bookmark;
  // For the failure of an attempt that ends midway.
  let key: string | undefined;
  let metadata: Metadata | undefined;

  async function exchange(signal: AbortSignal) {
    const token = typeof apiKey === 'function' ? await apiKey() : apiKey;
    checkToken('apiKey', token);
    // The attempt may have ended while the key was fetched.
    signal.throwIfAborted();
    key = token;
    call.attempts += 1;
    const { url, method, body } = request;
    const headers = {
      ...request.headers,
      authorization: `Bearer ${token}`,
      ...(bookmark && { 'x-d1-bookmark': bookmark.value }),
    };
    // A redirect could turn a write into a GET, or send the API key to another server.
    const init: FetchInit = { method, headers, body, signal, redirect: 'manual' };
    const response = await (fetch ?? globalThis.fetch)(url, init);
    metadata = metadataOf(response, call.attempts, token);
    const received = response.headers.get('x-d1-bookmark');
    if (bookmark && received && isNewer(received, bookmark)) bookmark.value = received;
    return toReply<T>(await readText(response, signal), request, metadata, token);
  }

  return within(attemptTimeoutMs, [callSignal], async (signal, ended) => {
    try {
      return await Promise.race([exchange(signal), ended]);
    } catch (error) {
      if (!key) return apiKeyFailure(error);
      // Such an error may contain the key.
      const isOfCustomFetch = fetch !== undefined && error !== signal.reason;
      return { ...networkFailure(error, key, isOfCustomFetch), metadata };
    }
  });
}

/**
 * Whether a bookmark of a response is newer: concurrent responses arrive in any order. Bookmarks sort by age, see
 * https://developers.cloudflare.com/d1/reference/time-travel/
 */
function isNewer(received: string, { value }: Bookmark) {
  // Such as `first-primary`, where a session starts: it is not a bookmark.
  return value.startsWith('first-') || received > value;
}

/** The body, or the beginning of one that is too long. The end of the attempt aborts the signal, which cancels the rest. */
async function readText(response: FetchResponse, signal: AbortSignal) {
  if (!isWebStream(response.body)) return response.text();
  const reader = response.body.getReader();
  const cancel = () => reader.cancel().catch(() => {});
  signal.addEventListener('abort', cancel);
  if (signal.aborted) cancel();
  const decoder = new TextDecoder();
  let text = '';
  while (text.length <= MAX_RESPONSE_LENGTH) {
    const { value } = await reader.read();
    if (!value) return text + decoder.decode();
    // A character may be split between two chunks.
    text += decoder.decode(value, { stream: true });
  }
  return text;
}

/** The bodies of node-fetch and React Native are others. */
function isWebStream(body: unknown): body is ReadableStream<Uint8Array> {
  return typeof Object(body).getReader === 'function';
}

function toReply<T>(
  text: string,
  request: Outgoing,
  metadata: Metadata,
  apiKey: string,
): Reply<T> | Failure {
  const { status, headers } = metadata;
  const parsed = status === 204 ? { value: undefined } : parseBody(text);
  if (status < 300 && parsed && isResult<T>(parsed.value, request))
    return { data: parsed.value, metadata };

  // Hidden before the text is parsed, so that no field has the key. A short key may be a part of `code`: it is hidden in the
  // message alone, below.
  const safeText = hideKey(text, apiKey, MIN_LENGTH_IN_CODES);
  const body = Object(parseBody(safeText)?.value);
  const { code, message } = body;
  if (status >= 400 && typeof code === 'string' && typeof message === 'string') {
    body.message = hideKey(message, apiKey);
    return { code, message: body.message, metadata, body };
  }
  // Of a redirect the target, otherwise the media type.
  const hint = headers.get('location') ?? headers.get('content-type');
  const parts = ['Not a response of the store:', status, hint, text];
  // First hidden, then cut: otherwise a part of the key could remain.
  const invalid = hideKey(parts.join(' '), apiKey).slice(0, 300);
  return { code: 'invalid_response', message: invalid, metadata };
}

/** Nothing, if it is too long or not JSON. */
function parseBody(text: string) {
  try {
    return text.length > MAX_RESPONSE_LENGTH ? undefined : { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/** Distinguishes the store from other servers. Fields need no check: the service's own tests compare them with its description. */
function isResult<T>(value: unknown, { returns = 'object', id }: Outgoing): value is T {
  if (returns === 'any') return true;
  const type = Array.isArray(value) ? 'array' : typeof value;
  if (type !== returns || value === null) return false;
  return type !== 'object' || id === undefined || Object(value).id === id;
}
