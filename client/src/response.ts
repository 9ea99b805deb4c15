/** Responses: what the client reads of their headers and bodies. */
import type { StoreErrorCode, StoreErrorDetails } from './error.ts';
import { hideKey } from './hide-key.ts';
import { parseJson } from './json.ts';
import type { FetchResponse } from './types.ts';

/** A successful response. */
export type Reply<T> = StoreErrorDetails & { data: T; link: string; code?: undefined };

/** The failure of an attempt or of its call. */
export type Failure = StoreErrorDetails & {
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

/** The parts of the status and the headers that an error shows. */
export function headOf({ status, headers }: FetchResponse, apiKey: string): StoreErrorDetails {
  const requestId = hideKey(headers.get('x-request-id') ?? '', apiKey) || undefined;
  const retryAfter = headers.get('retry-after') ?? '';
  const retryAfterSeconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return { status, requestId, retryAfterSeconds };
}

/** The body, or the beginning of a stream that is too long. The end of the attempt aborts the signal, which cancels the stream. */
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
  { status, headers }: FetchResponse,
  head: StoreErrorDetails,
  returns: Returns,
  apiKey: string,
): Reply<T> | Failure {
  const data = status === 204 ? undefined : parseBody(text);
  const link = headers.get('link') ?? '';
  if (status < 300 && isResult<T>(data, returns)) return { ...head, data, link };

  // The key is hidden in the text, which is parsed again: any field of a parsed body could have the key.
  const body = Object(parseBody(hideKey(text, apiKey)));
  const { code, message } = body;
  if (status >= 400 && typeof code === 'string' && typeof message === 'string')
    return { ...head, code, message, body };
  // The target of a redirect, or the media type of a page.
  const hint = headers.get('location') || headers.get('content-type');
  const invalid = ['Not a response of the store:', status, hint, text].join(' ');
  // The key is hidden before the message is cut: otherwise, a part of the key could be left.
  return { ...head, code: 'invalid_response', message: hideKey(invalid, apiKey).slice(0, 300) };
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
