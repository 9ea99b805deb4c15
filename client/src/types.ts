/** The types of options and lists. */

/** A list. The first request is sent by `for await`, `page()` or `toArray()`. */
export interface Pages<T> extends AsyncIterable<T> {
  /**
   * Fetches one page: the first, or the one that the `next` of an earlier page leads to.
   *
   * @param next - replaces the query of the list, and begins with `?`
   * @example
   * const { items, next } = await store.listPets({ limit: 10 }).page();
   * const second = next && (await store.listPets().page(next));
   */
  page: (next?: string) => Promise<Page<T>>;

  /**
   * Fetches the first `max` items, or all if there are fewer.
   * @example const pets = await store.listPets({ status: 'sold' }).toArray({ max: 500 });
   */
  toArray: (options: { max: number }) => Promise<T[]>;
}

export type Page<T> = {
  items: T[];
  /** The query of the next page, for `page(next)`; `undefined` on the last page. */
  next: string | undefined;
};

/** The options of a call. */
export type CallOptions = {
  /** Aborts the call, or a `for await` or `toArray()` before its next page, with the code `aborted`. */
  signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the call with all its attempts and pauses. In a `for await` or `toArray()` it applies to each page: limit the
   * whole list with `signal`.
   * @default 60_000
   */
  deadlineMs?: number | undefined;
  /**
   * Milliseconds for each attempt. A longer attempt fails with `network_error`, or, if it had no key yet, with
   * `api_key_failed`.
   * @default 15_000
   */
  attemptTimeoutMs?: number | undefined;
  /**
   * Maximum number of attempts.
   * @default 4
   */
  maxAttempts?: number | undefined;
  /** Headers to add, for example `traceparent`. A header of the call replaces the client's of the same name. */
  headers?: Record<string, string> | undefined;
};

export type CreateOptions = CallOptions & {
  /**
   * With a key of your own you can repeat the call within 24 hours.
   * @default a random key for each call
   */
  idempotencyKey?: string | undefined;
};

/** The fields of `CallOptions` are defaults for every call. A call is aborted by the client's `signal` or by its own. */
export type StoreOptions = CallOptions & {
  /** The store's address, which ends in `/v1`. `http:` only for localhost: elsewhere, others could read the API key. */
  baseUrl: string;
  /** The key, or a function that returns the key for the next attempt. */
  apiKey: string | (() => string | Promise<string>);
  /**
   * A function to use instead of the global `fetch`.
   * @default the global `fetch` at the time of each attempt
   */
  fetch?: Fetch | undefined;
};

/** The part of `fetch` that the client uses, so that the functions of other packages fit, too. */
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
