/** One attempt: sends the request once, and reads the response. */
import { startTimeLimit } from './deadline.ts';
import { StoreError } from './error.ts';
import { errorOf, HIDDEN } from './fetch-error.ts';
import { parseJson } from './json.ts';
import { metadataOf } from './metadata.ts';
import { checkToken, type DEFAULT_LIMITS } from './options.ts';
import type { FetchInit, FetchResponse, Metadata, Reply, StoreOptions } from './types.ts';

/** A session replaces its bookmark when it restarts. Requests in flight keep the old one. */
export type Client = StoreOptions &
  typeof DEFAULT_LIMITS & {
    /** The newest bookmark of the responses, or where the session starts. */
    session?: { bookmark: { value: string } };
  };

/** A request without the headers that can change between attempts. */
export type Outgoing = Pick<FetchInit, 'method' | 'headers' | 'body'> & {
  url: string;
  returns: Returns;
  /** Whether it is repeated after a 5xx or no response. */
  isRepeatable: boolean;
};

/** The type of the body of a successful response: that of a 204 is `undefined`. */
export type Returns = 'array' | 'object' | 'undefined' | 'any';

/** In characters: more than the largest page. No deadline can act while this is parsed, so it must not take long. */
const MAX_RESPONSE_LENGTH = 2 ** 19;

/** Returns the error of a failed attempt: `network_error` is one without a complete response. */
export async function attempt<T>(
  { apiKey, fetch = globalThis.fetch, session, attemptTimeoutMs }: Client,
  { url, method, headers, body, returns }: Outgoing,
  number: number,
  callSignal: AbortSignal,
): Promise<Reply<T> | StoreError> {
  const { signal, ended, release } = startTimeLimit(attemptTimeoutMs, [callSignal]);
  const bookmark = session?.bookmark;
  const known: { key?: string; metadata?: Metadata } = {};

  async function exchange() {
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    checkToken('apiKey', key);
    // The attempt may have ended while the key was fetched.
    signal.throwIfAborted();
    known.key = key;
    const sent = {
      ...headers,
      authorization: `Bearer ${key}`,
      ...(bookmark && { 'x-d1-bookmark': bookmark.value }),
    };
    // A redirect could turn a write into a GET, or send the API key to another server.
    const response = await fetch(url, { method, headers: sent, body, signal, redirect: 'manual' });
    const metadata = metadataOf(response, number);
    known.metadata = metadata;
    const received = response.headers.get('x-d1-bookmark') ?? '';
    // Concurrent responses arrive in any order. Bookmarks sort by age, and `first-primary` is no bookmark:
    // https://developers.cloudflare.com/d1/reference/time-travel/
    if (bookmark && received > bookmark.value.replace(/^first-.*/, '')) bookmark.value = received;
    return read<T>(await readText(response, signal), returns, metadata, key);
  }

  try {
    return await Promise.race([exchange(), ended]);
  } catch (cause) {
    return errorOf(cause, known.key, known.metadata);
  } finally {
    release();
  }
}

/** The body, or the beginning of one that is too long. It is cancelled when the attempt has ended. */
async function readText(response: FetchResponse, signal: AbortSignal) {
  // Only a web stream has one. The bodies of node-fetch and React Native are others.
  const reader: ReadableStreamDefaultReader<Uint8Array> = Object(response.body).getReader?.();
  if (!reader) return response.text();
  // Not by `fetch` alone, which may ignore its signal, or respond too late.
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

function read<T>(
  text: string,
  returns: Returns,
  metadata: Metadata,
  apiKey: string,
): Reply<T> | StoreError {
  const { status, headers } = metadata;
  const body = parseBody(text, status);
  if (body && status < 300 && isResult<T>(body.value, returns))
    return { data: body.value, metadata };

  const { code } = Object(body?.value);
  const fields = Object(parseBody(text.replaceAll(apiKey, HIDDEN), status)?.value);
  if (status >= 400 && typeof code === 'string' && typeof fields.message === 'string')
    return new StoreError(code, fields.message, { metadata, body: fields });

  const kind = headers.get('location') ?? headers.get('content-type');
  const parts = ['Not a response of the store:', status, kind, text];
  // Cut in the end: a part of the key could remain.
  const message = parts.join(' ').replaceAll(apiKey, HIDDEN).slice(0, 300);
  return new StoreError('invalid_response', message, { metadata });
}

/** The value of a body, which for a 204 is `undefined`. Nothing for a text that is too long or not JSON. */
function parseBody(text: string, status: number) {
  if (status === 204) return { value: undefined };
  try {
    return text.length > MAX_RESPONSE_LENGTH ? undefined : { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/** Distinguishes the store from other servers. The service's own tests compare every field with the description. */
function isResult<T>(value: unknown, returns: Returns): value is T {
  if (returns === 'any') return true;
  const type = Array.isArray(value) ? 'array' : typeof value;
  return value !== null && type === returns;
}
