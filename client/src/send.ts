/** Sends a request: attempts, pauses, and which failures are retried. */
import { type Deadline, startDeadline } from './deadline.ts';
import { StoreError, type StoreErrorCode } from './error.ts';
import { parseJson } from './json.ts';
import { type Metadata, metadataOf } from './metadata.ts';

/** The limits of a call. */
export type CallOptions = {
  /** Aborts the call, or the whole `for await` over a list, with the code `aborted`. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call with all its attempts and pauses; default 60,000. In a `for await` it applies
   * to each page: limit the whole loop with `signal`.
   */
  deadlineMs?: number | undefined;
  /** Maximum number of attempts; default 4. */
  maxAttempts?: number | undefined;
};

/** The limits of the client and of the call, merged. */
type Limits = {
  /** The call ends when one of them is aborted. */
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
  /** Whether it can safely be repeated after a 5xx or no response. */
  isRepeatable: boolean;
  /** Called with the headers of every response. */
  onHeaders(headers: Headers): void;
};

export type Answer = { body: unknown; metadata: Metadata };

const FIRST_PAUSE_MS = 250;

/**
 * Sends a request, and retries it where that is safe: after a 429, which was not carried out; after a 5xx or no
 * response if it is repeatable. Pauses double, are partly random, and are added to `Retry-After`.
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

      // An earlier attempt deleted the animal, and its response was lost.
      const isGone = request.method === 'DELETE' && code === 'pet_not_found';
      if (isGone && outcomeUnknown && metadata) return { body: undefined, metadata };

      // A browser reports a redirect with status 0, which is a response.
      const isUnanswered = !metadata || status >= 500;
      const isWrite = request.method !== 'GET';
      if (isWrite && (isUnanswered || status < 400)) outcomeUnknown = true;

      const pauseMs =
        FIRST_PAUSE_MS * 2 ** (attempt - 1) * (0.5 + Math.random() / 2) +
        1000 * (metadata?.retryAfterSeconds ?? 0);
      const mayRepeat = status === 429 || (isUnanswered && request.isRepeatable);
      if (!mayRepeat || !(attempt < maxAttempts) || !deadline.hasTimeFor(pauseMs))
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
    // A redirect could turn a write into a GET, or send the API key to another server.
    const init: RequestInit = { method, headers, body, signal, redirect: 'manual' };
    const response = await deadline.race(fetch(url, init));
    const text = await deadline.race(response.text());
    onHeaders(response.headers);
    return read(text, expects, metadataOf(response, attempt));
  } catch (cause) {
    if (deadline.signal.aborted) return deadline.error();
    return new StoreError('network_error', 'The store did not respond.', { cause });
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
  const message = `The response with status ${status} is not a valid response of the store.`;
  return new StoreError('invalid_response', message, { metadata, cause });
}

function kindOf(body: unknown): Outgoing['expects'] | undefined {
  if (body === undefined) return 'none';
  if (Array.isArray(body)) return 'array';
  return typeof body === 'object' && body !== null ? 'object' : undefined;
}

/** Accepts unknown codes: a newer service may have added one. */
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
