/** One attempt: sends the request once, and reads the response. */
import { startTimeLimit } from './deadline.ts';
import { StoreError } from './error.ts';
import { parseJson } from './json.ts';
import { type Metadata, metadataOf } from './metadata.ts';
import {
  type CallOptions,
  checkApiKey,
  type FetchInit,
  type FetchResponse,
  type StoreOptions,
} from './options.ts';

export type Client = Pick<StoreOptions, 'baseUrl' | 'apiKey' | 'fetch'> & {
  defaults: CallOptions;
  /** The bookmark is replaced when the session restarts. Requests in flight keep the old one. */
  session?: { bookmark: Bookmark };
};

/** Where a session starts, and the newest bookmark of its responses, or ''. */
type Bookmark = { start: string; newest: string };

/** A request without the headers that can change between attempts. */
export type Outgoing = Pick<FetchInit, 'method' | 'headers' | 'body'> & {
  url: string;
  returns: Returns;
  /** Whether it is repeated after a 5xx or no response. */
  isRepeatable: boolean;
};

/** The type of the body of a successful response: that of a 204 is `undefined`. */
export type Returns = 'array' | 'object' | 'undefined' | 'any';

export type Reply<T> = { data: T; metadata: Metadata };

/** In characters: more than the largest page. No deadline can act while this is parsed, so it must not take long. */
const MAX_RESPONSE_LENGTH = 2 ** 19;

/** Returns the error of a failed attempt: `network_error` is one without a complete response. */
export async function attempt<T>(
  { apiKey, fetch = globalThis.fetch, session }: Client,
  { url, method, body, returns, ...request }: Outgoing,
  progress: { attempts: number },
  timeoutMs: number,
  callSignal: AbortSignal,
): Promise<Reply<T> | StoreError> {
  const { signal, ended, release } = startTimeLimit(timeoutMs, [callSignal]);
  let code = 'api_key_failed';
  let metadata: Metadata | undefined;
  try {
    const key = typeof apiKey === 'function' ? await Promise.race([apiKey(), ended]) : apiKey;
    checkApiKey(key);
    // The call may have ended while the key was fetched.
    signal.throwIfAborted();
    code = 'network_error';
    progress.attempts += 1;
    const bookmark = session?.bookmark;
    const headers = {
      ...request.headers,
      authorization: `Bearer ${key}`,
      ...(bookmark && { 'x-d1-bookmark': bookmark.newest || bookmark.start }),
    };
    // A redirect could turn a write into a GET, or send the API key to another server.
    const response = await Promise.race([
      fetch(url, { method, headers, body, signal, redirect: 'manual' }),
      ended,
    ]);
    metadata = metadataOf(response, progress.attempts);
    const received = response.headers.get('X-D1-Bookmark') ?? '';
    // Concurrent responses arrive in any order. Bookmarks sort by age:
    // https://developers.cloudflare.com/d1/reference/time-travel/
    if (bookmark && received > bookmark.newest) bookmark.newest = received;
    return read<T>(await Promise.race([readText(response), ended]), returns, metadata);
  } catch (cause) {
    return new StoreError(code, `The request failed: ${messageOf(cause)}`, { metadata, cause });
  } finally {
    release();
  }
}

/** With the reason that Node.js gives only in the cause of its error, such as ECONNREFUSED. */
function messageOf(error: unknown): string {
  try {
    const { message = error, cause } = Object(error);
    return [message, cause?.code ?? cause?.message].filter(Boolean).join(': ');
  } catch {
    return 'unknown';
  }
}

/** The body, or the beginning of one that is too long. */
async function readText(response: FetchResponse): Promise<string> {
  const reader: ReadableStreamDefaultReader<Uint8Array> = Object(response.body).getReader?.();
  if (!reader) return response.text();
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

function read<T>(text: string, returns: Returns, metadata: Metadata): Reply<T> | StoreError {
  const { status, headers } = metadata;
  const body = parseBody(text, status);
  if (status < 300 && isResult<T>(body, returns)) return { data: body, metadata };
  const { code, message } = Object(body);
  if (status >= 400 && typeof code === 'string' && typeof message === 'string')
    return new StoreError(code, message, { metadata, body: Object(body) });

  const kind = headers.get('Location') ?? headers.get('Content-Type');
  return new StoreError(
    'invalid_response',
    ['Not a response of the store:', status, kind, text.slice(0, 200)].join(' '),
    { metadata },
  );
}

/** The value, `undefined` for a 204, or `null` for anything else. */
function parseBody(text: string, status: number): unknown {
  if (status === 204) return undefined;
  try {
    return text.length > MAX_RESPONSE_LENGTH ? null : parseJson(text);
  } catch {
    return null;
  }
}

/** Distinguishes the store from other servers. The service's own tests compare every field with the description. */
function isResult<T>(body: unknown, returns: Returns): body is T {
  const type = Array.isArray(body) ? 'array' : typeof body;
  return body !== null && (returns === 'any' || returns === type);
}
