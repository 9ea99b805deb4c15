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

export type StoreOptions = CallOptions & {
  /** The store's address, which ends in `/v1`. `http:` only for localhost: others could read the API key. */
  baseUrl: string;
  /** The key, or a function that returns the key for the next call. */
  apiKey: string | (() => string | Promise<string>);
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
};

const LIMITS = ['deadlineMs', 'attemptTimeoutMs', 'maxAttempts'] as const;
const LOOPBACK = /(^|\.)localhost$|^127(\.\d+){3}$|^\[::1\]$/;

/** @throws TypeError */
export function checkOptions({ baseUrl, apiKey, ...defaults }: StoreOptions): void {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw new TypeError('baseUrl: must start with https:// (or, for localhost, http://)');
  if (url.protocol === 'http:' && !LOOPBACK.test(url.hostname))
    throw new TypeError('baseUrl: must start with https://: over http others could read the key');
  if (url.href !== url.origin + url.pathname)
    throw new TypeError('baseUrl: must not have a user name, a query or a fragment');
  if (typeof apiKey !== 'function') checkApiKey(apiKey);
  checkLimits(defaults);
}

/** `Headers` rejects such a key as well, but its error message contains the key. @throws TypeError */
export function checkApiKey(apiKey: unknown): void {
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey: must be a string of printable ASCII without spaces');
}

/** @throws TypeError */
export function checkLimits(options: CallOptions): void {
  for (const name of LIMITS) {
    const value = options[name];
    if (value !== undefined && !(typeof value === 'number' && value > 0))
      throw new TypeError(`${name}: must be a number above 0`);
  }
}
