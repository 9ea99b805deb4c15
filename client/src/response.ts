/** Responses: what the client reads of their headers and bodies. */
import type { StoreErrorCode, StoreErrorDetails } from './error.ts';
import { hideKey } from './hide-key.ts';
import { parseUpTo } from './json.ts';
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

/** The JSON type of a successful response: `none` for a 204, which has no body. */
export type BodyType = 'array' | 'object' | 'number' | 'none';

/**
 * No page of the store is longer, or has more values. No deadline can act while a body is parsed: the length limits the time of
 * `JSON.parse`, and the number of values limits that of the conversion to bigint.
 */
const MAX_RESPONSE_LENGTH = 524_288;
const MAX_VALUES = 1_024;

/** The status of a response, and the headers that an error shows. */
export function headOf({ status, headers }: FetchResponse, apiKey: string): StoreErrorDetails {
  const requestId = hideKey(headers.get('x-request-id') ?? '', apiKey) || undefined;
  const retryAfter = headers.get('retry-after') ?? '';
  const retryAfterSeconds = /^\d+$/.test(retryAfter) ? Number(retryAfter) : undefined;
  return { status, requestId, retryAfterSeconds };
}

/** The body, or the beginning of a stream that is too long. The signal, which the end of the attempt aborts, cancels the stream. */
export async function readText(response: FetchResponse, signal: AbortSignal): Promise<string> {
  // The bodies of node-fetch and React Native are not web streams.
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = Object(
    response.body,
  ).getReader?.();
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
  bodyType: BodyType,
  apiKey: string,
): Reply<T> | Failure {
  // In an error, the key is hidden before the text is parsed: any field of the body could have the key.
  const body = parseBody(status < 400 ? text : hideKey(text, apiKey));
  if (status < 300 && isResult<T>(body, bodyType, status))
    return { ...head, data: body, link: headers.get('link') ?? '' };

  const { code, message } = Object(body);
  if (status >= 400 && typeof code === 'string' && typeof message === 'string')
    return { ...head, code, message, body: Object(body) };
  // The target of a redirect, or the media type of a page.
  const hint = headers.get('location') || headers.get('content-type');
  const uncut = ['Not a response of the store:', status, hint, text].join(' ');
  // The key is hidden before the message is cut: otherwise, a part of the key could be left.
  return { ...head, code: 'invalid_response', message: hideKey(uncut, apiKey).slice(0, 300) };
}

/** `undefined` if the text is too long, has too many values, or is not JSON. */
export function parseBody(text: string): unknown {
  try {
    return text.length > MAX_RESPONSE_LENGTH ? undefined : parseUpTo(text, MAX_VALUES);
  } catch {
    return undefined;
  }
}

/** Distinguishes the store from other servers. Fields need no check: the service's own tests compare them with its description. */
function isResult<T>(body: unknown, bodyType: BodyType, status: number): body is T {
  if (status === 204) return bodyType === 'none';
  const type = Array.isArray(body) ? 'array' : typeof body;
  return body !== null && type === bodyType;
}
