/** Sending a request until it is answered: attempts, pauses, and what may be sent again. */
import { type Deadline, startDeadline } from './deadline.ts';
import { StoreError, type StoreErrorCode } from './error.ts';
import { parseJson } from './json.ts';
import { type Metadata, metadataOf } from './metadata.ts';

/** The limits of a call. */
export type CallOptions = {
  /** Ends the call with the code `aborted`. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the call with all its attempts and pauses; default 60,000. */
  deadlineMs?: number | undefined;
  /** How often the request is sent at most; default 4. */
  maxAttempts?: number | undefined;
};

export type Outgoing = {
  url: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  headers: Headers;
  body: string | null;
  /** Whether nothing can be done twice by sending it again after no answer or a 5xx. */
  isRepeatable: boolean;
  /** Called with the headers of every answer. */
  onHeaders(headers: Headers): void;
};

export type Answer = { body: unknown; metadata: Metadata };

const FIRST_PAUSE_MS = 250;

/**
 * Sends a request, again where that can help and does no harm: after a 429, which was not carried out, and
 * after no answer or a 5xx when it is repeatable. Pauses double, vary, and come on top of `Retry-After`.
 *
 * @throws StoreError
 */
export async function send(
  fetch: typeof globalThis.fetch,
  request: Outgoing,
  { signal, deadlineMs = 60_000, maxAttempts = 4 }: CallOptions,
): Promise<Answer> {
  const deadline = startDeadline(deadlineMs, signal);
  let outcomeUnknown = false;
  try {
    if (signal?.aborted) throw deadline.error();
    for (let attempt = 1; ; attempt += 1) {
      const result = await attemptOnce(fetch, request, deadline, attempt);
      if (!(result instanceof StoreError)) return result;
      const { code, status = 0, metadata } = result;

      // What a repeated DELETE does not find, an earlier attempt has deleted.
      const isGone = request.method === 'DELETE' && code === 'pet_not_found';
      if (isGone && outcomeUnknown && metadata) return { body: undefined, metadata };

      const isUnanswered = status === 0 || status >= 500;
      const isWrite = request.method !== 'GET';
      if (isWrite && (isUnanswered || status < 300)) outcomeUnknown = true;

      const pauseMs =
        FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2) +
        1000 * (metadata?.retryAfterSeconds ?? 0);
      const mayRepeat = status === 429 || (isUnanswered && request.isRepeatable);
      if (!mayRepeat || attempt >= maxAttempts || !deadline.hasLeft(pauseMs))
        throw Object.assign(result, { outcomeUnknown });
      await deadline.pause(pauseMs);
      if (deadline.signal.aborted) throw Object.assign(deadline.error(), { outcomeUnknown });
    }
  } finally {
    deadline.release();
  }
}

async function attemptOnce(
  fetch: typeof globalThis.fetch,
  { url, method, headers, body, onHeaders }: Outgoing,
  deadline: Deadline,
  attempt: number,
): Promise<Answer | StoreError> {
  try {
    const { signal } = deadline;
    const response = await fetch(url, { method, headers, body, signal });
    const text = await response.text();
    onHeaders(response.headers);
    return read(text, response.ok, metadataOf(response, attempt));
  } catch (cause) {
    if (deadline.signal.aborted) return deadline.error();
    return new StoreError('network_error', 'The store did not answer.', { cause });
  }
}

function read(text: string, isOk: boolean, metadata: Metadata): Answer | StoreError {
  const { status } = metadata;
  const message = `The response with status ${status} is not one that the store sends.`;
  try {
    const body = status === 204 ? undefined : parseJson(text);
    if (isOk) return { body, metadata };
    if (isErrorBody(body)) return new StoreError(body.code, body.message, { metadata });
    return new StoreError('invalid_response', message, { metadata });
  } catch (cause) {
    return new StoreError('invalid_response', message, { metadata, cause });
  }
}

/** The code is not compared with those that are known: a newer service may have added one. */
function isErrorBody(body: unknown): body is { code: StoreErrorCode; message: string } {
  return typeof body === 'object' && body !== null && 'code' in body && 'message' in body;
}
