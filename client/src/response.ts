/** Responses: what the client reads of their headers and bodies. */
import type { StoreErrorCode, StoreErrorDetails } from './error.ts';
import { hideKey } from './hide-key.ts';
import { parseJson } from './json.ts';
import type { FetchResponse } from './types.ts';

/** The status and the headers that the client uses. */
export type Head = {
  status: number;
  requestId: string | undefined;
  retryAfterSeconds: number | undefined;
  /** Empty if there is none, as `link`. */
  bookmark: string;
  link: string;
  /** For the message about a response of another server: the target of a redirect, otherwise the media type. */
  hint: string;
};

export type Reply<T> = Head & { data: T; code?: undefined };

/** Why an attempt failed, or why its call ended. With the fields of the response, if there was one. */
export type Failure = StoreErrorDetails &
  Partial<Head> & {
    code: StoreErrorCode;
    message: string;
    /** Whether there was no connection, so that nothing was sent. */
    isUnsent?: boolean;
  };

/** The JSON type of a successful response. That of a 204 is `undefined`. */
export type Returns = 'array' | 'object' | 'undefined';

type Reader = ReadableStreamDefaultReader<Uint8Array>;

/** In characters: more than the largest page. No deadline can act while this is parsed, so it must not take long. */
const MAX_RESPONSE_LENGTH = 2 ** 19;

export function headOf({ status, headers }: FetchResponse, apiKey: string): Head {
  const read = (name: string) => hideKey(headers.get(name) ?? '', apiKey);
  const retryAfter = read('retry-after');
  return {
    status,
    requestId: read('x-request-id') || undefined,
    retryAfterSeconds: /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined,
    bookmark: read('x-d1-bookmark'),
    link: read('link'),
    hint: read('location') || read('content-type'),
  };
}

/** The body, or the beginning of one that is too long. The end of the attempt aborts the signal, which cancels the rest. */
export async function readText(response: FetchResponse, signal: AbortSignal): Promise<string> {
  // The bodies of node-fetch and React Native are not web streams.
  const reader: Reader | undefined = Object(response.body).getReader?.();
  if (!reader) return response.text();
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

export function resultOf<T>(
  text: string,
  head: Head,
  returns: Returns,
  apiKey: string,
): Reply<T> | Failure {
  const { status, hint } = head;
  const data = status === 204 ? undefined : parseBody(text);
  if (status < 300 && isResult<T>(data, returns)) return { ...head, data };

  // Before the text is parsed or cut: otherwise a field could have the key, or the message a part of it.
  const safeText = hideKey(text, apiKey);
  const body = Object(parseBody(safeText));
  const { code, message } = body;
  if (status >= 400 && typeof code === 'string' && typeof message === 'string')
    return { ...head, code, message, body };
  const invalid = ['Not a response of the store:', status, hint, safeText].join(' ');
  return { ...head, code: 'invalid_response', message: invalid.slice(0, 300) };
}

/** `null` if the text is too long or not JSON. No response of the store is `null`. */
function parseBody(text: string) {
  try {
    return text.length > MAX_RESPONSE_LENGTH ? null : parseJson(text);
  } catch {
    return null;
  }
}

/** Distinguishes the store from other servers. Fields need no check: the service's own tests compare them with its description. */
function isResult<T>(value: unknown, returns: Returns): value is T {
  const type = Array.isArray(value) ? 'array' : typeof value;
  return value !== null && type === returns;
}
