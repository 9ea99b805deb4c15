/** Options of the client and of a call, and their checks: a mistake is a TypeError that names the option. */

/** The limits and headers of a call. */
export type CallOptions = {
  /** Aborts the call, or the whole `for await` over a list, with the code `aborted`. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call with all its attempts and pauses; default 60,000. In a `for await` it applies
   * to each page: limit the whole loop with `signal`.
   */
  deadlineMs?: number | undefined;
  /** Milliseconds for each attempt; default 15,000. Then it counts as one without a response. */
  attemptTimeoutMs?: number | undefined;
  /** Maximum number of attempts; default 4. */
  maxAttempts?: number | undefined;
  /** Headers to add, for example `traceparent`. Those of the call replace those of the client. */
  headers?: Record<string, string> | undefined;
};

export type CreateOptions = CallOptions & {
  /** Default: a random key for each call. With a key of your own you can repeat the call later. */
  idempotencyKey?: string | undefined;
};

export type RequestOptions = CreateOptions & {
  /** Sent as JSON, in which every digit of a `bigint` is exact. */
  body?: unknown;
};

export type StoreOptions = CallOptions & {
  /** The store's address, which ends in `/v1`. `http:` only for localhost: others could read the API key. */
  baseUrl: string;
  /** The key, or a function that returns the key for the next attempt. */
  apiKey: string | (() => string | Promise<string>);
  /** Default: the global `fetch` at the time of the call. */
  fetch?: Fetch | undefined;
};

/** The part of `fetch` that the client uses, so that the functions of undici and node-fetch fit, too. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchResponse>;

export type FetchInit = {
  method: string;
  headers: Record<string, string>;
  body: string | null;
  signal: AbortSignal;
  redirect: 'manual';
};

export type FetchResponse = {
  status: number;
  headers: Pick<Headers, 'get'>;
  /** The client reads a web stream up to its limit of 524,288 characters. Without one it uses `text()`. */
  body?: unknown;
  text(): Promise<string>;
};

/** `http:` only for this machine; without blanks, user name, query and fragment. */
const BASE_URL =
  /^(https:\/\/|http:\/\/(([\w-]+\.)*localhost|127(\.\d+){3}|\[::1\])(?=[:/]|$))[^\s@?#]*$/;

export const DEFAULT_LIMITS = { deadlineMs: 60_000, attemptTimeoutMs: 15_000, maxAttempts: 4 };

/** @throws TypeError */
export function checkStoreOptions({ baseUrl, apiKey, fetch, ...others }: StoreOptions): void {
  must(
    isText(baseUrl, BASE_URL) && URL.canParse(baseUrl),
    'baseUrl: must start with https:// (http:// only for localhost: others could read the key), without blanks, user name, query and fragment',
  );
  if (typeof apiKey !== 'function') checkApiKey(apiKey);
  must(fetch === undefined || typeof fetch === 'function', 'fetch: must be a function');
  checkCallOptions(others);
}

/** @throws TypeError */
export function checkRequestOptions({
  body,
  idempotencyKey = '-',
  ...others
}: RequestOptions): void {
  must(
    isText(idempotencyKey, /^[ -~]{1,255}$/),
    'idempotencyKey: must be 1 to 255 characters of printable ASCII',
  );
  checkCallOptions(others);
}

/** `Headers` rejects such a key as well, but its error message contains the key. @throws TypeError */
export function checkApiKey(apiKey: unknown): void {
  must(isText(apiKey, /^[!-~]+$/), 'apiKey: must be a string of printable ASCII without spaces');
}

function checkCallOptions({ signal, headers = {}, ...others }: CallOptions): void {
  must(
    signal === undefined || typeof Object(signal).addEventListener === 'function',
    'signal: must be an AbortSignal',
  );
  must(
    // The headers of a `Headers` are not properties: they would be lost.
    String(headers) === '[object Object]' &&
      Object.values(headers).every((value) => typeof value === 'string'),
    'headers: must be a plain object of strings, not a Headers',
  );
  for (const [name, value = 1] of Object.entries(others)) {
    must(Object.hasOwn(DEFAULT_LIMITS, name), `${name}: is not an option`);
    must(typeof value === 'number' && value > 0, `${name}: must be a number above 0`);
  }
}

export function must(holds: boolean, message: string): void {
  if (!holds) throw new TypeError(message);
}

function isText(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}
