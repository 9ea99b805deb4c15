/** One attempt: sends the request once, and reads the response. */
import { abortable, startTimeLimit } from './deadline.ts';
import { StoreError } from './error.ts';
import { parseJson } from './json.ts';
import { type Metadata, metadataOf } from './metadata.ts';

export type Outgoing = {
  fetch: typeof fetch;
  url: string;
  method: string;
  headers: Headers;
  body: string | null;
  /** The body of a successful response: `none` is a 204. */
  returns: 'array' | 'object' | 'none';
  /** What follows a 5xx or no response. */
  unanswered: 'repeat' | 'fail';
};

export type Reply<T> = { data: T; metadata: Metadata };

const MAX_RESPONSE_BYTES = 2 ** 24;
const EXCERPT_LENGTH = 200;

/** How a failed connection's message begins in browsers, Deno and Workers. In Node.js and Bun it has a cause or code. */
const CONNECTION_FAILURE =
  /^(the )?(fetch|failed to fetch|load failed|error sending|network|internet)/i;

/**
 * Returns the error of a failed attempt: `network_error` is one without a complete response.
 *
 * @throws TypeError of a custom `fetch` that has a mistake, which no repetition would correct
 */
export async function attempt(
  { fetch, url, method, headers, body, returns }: Outgoing,
  timeoutMs: number,
  callSignal: AbortSignal,
  attempts: number,
): Promise<Reply<unknown> | StoreError> {
  const { signal, release } = startTimeLimit(timeoutMs, [callSignal]);
  let metadata: Metadata | undefined;
  try {
    // A redirect could turn a write into a GET, or send the API key to another server.
    const init: RequestInit = { method, headers, body, signal, redirect: 'manual' };
    const response = await abortable(fetch(url, init), signal);
    metadata = metadataOf(response, attempts);
    return read(await abortable(readText(response), signal), returns, metadata);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const isCustom = fetch !== globalThis.fetch;
    if (isCustom && !metadata && isMistake(cause)) throw cause;
    const message = `The store did not respond: ${reason}`;
    return new StoreError('network_error', message, { metadata, cause });
  } finally {
    release();
  }
}

/** Whether a custom `fetch` has thrown a TypeError of its own: a failed connection is one as well. */
function isMistake(error: unknown): boolean {
  if (!(error instanceof TypeError) || 'cause' in error || 'code' in error) return false;
  return !CONNECTION_FAILURE.test(error.message);
}

/** The body, or `undefined` if it is larger than 16 MiB. */
async function readText({ body }: Response): Promise<string | undefined> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  let bytes = 0;
  for (;;) {
    const { value } = (await reader?.read()) ?? {};
    if (!value) return text + decoder.decode();
    bytes += value.length;
    if (bytes > MAX_RESPONSE_BYTES) return void reader?.cancel();
    text += decoder.decode(value, { stream: true });
  }
}

function read(
  text: string | undefined,
  returns: Outgoing['returns'],
  metadata: Metadata,
): Reply<unknown> | StoreError {
  const { status, headers } = metadata;
  if (text === undefined)
    return new StoreError('invalid_response', 'The response is larger than 16 MiB.', { metadata });
  let cause: unknown;
  try {
    const body = status === 204 ? undefined : parseJson(text);
    if (status >= 200 && status < 300 && kindOf(body) === returns) return { data: body, metadata };
    if (status >= 400 && isErrorBody(body))
      return new StoreError(body.code, body.message, { metadata, body });
  } catch (error) {
    cause = error;
  }
  const excerpt = text.slice(0, EXCERPT_LENGTH);
  const message = `Not a response of the store: ${status} ${headers.get('Content-Type')} ${excerpt}`;
  return new StoreError('invalid_response', message, { metadata, cause });
}

function kindOf(body: unknown): Outgoing['returns'] | undefined {
  if (body === undefined) return 'none';
  if (Array.isArray(body)) return 'array';
  return typeof body === 'object' && body !== null ? 'object' : undefined;
}

type ErrorBody = Record<string, unknown> & { code: string; message: string };

function isErrorBody(body: unknown): body is ErrorBody {
  const { code, message } = Object(body);
  return typeof code === 'string' && typeof message === 'string';
}
