/** Sending a request until it is answered: attempts, pauses, and what may be sent again. */
import { type Deadline, startDeadline } from './deadline.ts';
import { StoreError, type StoreErrorCode } from './error.ts';
import { parseJson } from './json.ts';
import { type Metadata, metadataOf } from './metadata.ts';

/** The limits of a call. */
export type CallOptions = {
  /** Ends the call with the code `aborted`. A walk over a list ends with it, too. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call with all its attempts and pauses; default 60,000. In a walk over a list it
   * applies to each page: limit the whole walk with `signal`.
   */
  deadlineMs?: number | undefined;
  /** Maximum number of attempts; default 4. */
  maxAttempts?: number | undefined;
};

/** The limits of the client and of the call, merged. */
type Limits = {
  /** The first that is aborted ends the call. */
  signals: AbortSignal[];
  deadlineMs: number;
  maxAttempts: number;
};

export type Outgoing = {
  url: string;
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  headers: Headers;
  body: string | null;
  /** The body of a successful response: `none` is a 204. */
  expects: 'array' | 'object' | 'none';
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
  { signals, deadlineMs, maxAttempts }: Limits,
): Promise<Answer> {
  const deadline = startDeadline(deadlineMs, signals);
  let outcomeUnknown = false;
  try {
    if (deadline.signal.aborted) throw deadline.error();
    for (let attempt = 1; ; attempt += 1) {
      const result = await attemptOnce(fetch, request, deadline, attempt);
      if (!(result instanceof StoreError)) return result;
      const { code, status = 0, metadata } = result;

      // What a repeated DELETE does not find, an earlier attempt has deleted.
      const isGone = request.method === 'DELETE' && code === 'pet_not_found';
      if (isGone && outcomeUnknown && metadata) return { body: undefined, metadata };

      // A browser reports a redirect with the status 0: that is an answer.
      const isUnanswered = !metadata || status >= 500;
      const isWrite = request.method !== 'GET';
      if (isWrite && (isUnanswered || status < 400)) outcomeUnknown = true;

      const pauseMs =
        FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2) +
        1000 * (metadata?.retryAfterSeconds ?? 0);
      const mayRepeat = status === 429 || (isUnanswered && request.isRepeatable);
      if (!mayRepeat || !(attempt < maxAttempts) || !deadline.hasLeft(pauseMs))
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
  { url, method, headers, body, expects, onHeaders }: Outgoing,
  deadline: Deadline,
  attempt: number,
): Promise<Answer | StoreError> {
  try {
    const { signal } = deadline;
    // A followed redirect can turn a write into a GET, or send it to another server.
    const init: RequestInit = { method, headers, body, signal, redirect: 'manual' };
    const response = await deadline.race(fetch(url, init));
    const text = await deadline.race(response.text());
    onHeaders(response.headers);
    return read(text, expects, metadataOf(response, attempt));
  } catch (cause) {
    if (deadline.signal.aborted) return deadline.error();
    return new StoreError('network_error', 'The store did not answer.', { cause });
  }
}

function read(text: string, expects: Outgoing['expects'], metadata: Metadata): Answer | StoreError {
  const { status } = metadata;
  let cause: unknown;
  try {
    const body = status === 204 ? undefined : parseJson(text);
    if (status >= 200 && status < 300 && kindOf(body) === expects) return { body, metadata };
    if (status >= 400 && isErrorBody(body))
      return new StoreError(body.code, body.message, { metadata });
  } catch (error) {
    cause = error;
  }
  const message = `The response with status ${status} is not one that the store sends.`;
  return new StoreError('invalid_response', message, { metadata, cause });
}

function kindOf(body: unknown): Outgoing['expects'] | undefined {
  if (body === undefined) return 'none';
  if (Array.isArray(body)) return 'array';
  return typeof body === 'object' && body !== null ? 'object' : undefined;
}

/** The code is not compared with those that are known: a newer service may have added one. */
function isErrorBody(body: unknown): body is { code: StoreErrorCode; message: string } {
  return (
    typeof body === 'object' &&
    body !== null &&
    'code' in body &&
    typeof body.code === 'string' &&
    'message' in body &&
    typeof body.message === 'string'
  );
}
