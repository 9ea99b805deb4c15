export type CallOptions = {
  /** Aborts the call. A `for await` stops before its next page. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call with its attempts and pauses; in a `for await`, for each page.
   * @default 60_000
   */
  deadlineMs?: number | undefined;
  /** Milliseconds for one attempt. @default 15_000 */
  attemptTimeoutMs?: number | undefined;
  /** @default 4 */
  maxAttempts?: number | undefined;
};

export type CreateOptions = CallOptions & {
  /**
   * To repeat a create within 24 hours, also after a restart of the program.
   * @default a random key for each call
   */
  idempotencyKey?: string | undefined;
};

/** Its limits are the defaults of every call. */
export type StoreOptions = Omit<CallOptions, 'signal'> & {
  /**
   * The store's address, which ends in `/v1`. `http:` only on this machine: elsewhere, others could
   * read the API key.
   */
  baseUrl: string;
  apiKey: string;
  /**
   * A function to use instead of the global `fetch`. Its headers contain the API key: do not log
   * them.
   */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
};

const BASE_URL = /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1|\[::1\])([:/]|$))[^\s@?#]*$/;

/**
 * @throws TypeError about a mistake that would send the key in clear text, or show it in an error
 * of `fetch`
 */
export function checkOptions({ baseUrl, apiKey }: StoreOptions): void {
  if (!BASE_URL.test(baseUrl) || !URL.canParse(baseUrl))
    throw new TypeError('baseUrl: must be https:, or http: on localhost, no query');
  // An unset environment variable is `undefined` in JavaScript.
  if (typeof apiKey !== 'string' || !/^[!-~]{1,1024}$/.test(apiKey))
    throw new TypeError('apiKey: must be 1 to 1,024 visible ASCII characters');
}
