/** One attempt: sends the request once, and reads the response. */
import { within } from './deadline.ts';
import { apiKeyFailure, networkFailure } from './fetch-error.ts';
import { checkToken, type DEFAULT_LIMITS } from './options.ts';
import { type Failure, headOf, type Reply, type Returns, readText, resultOf } from './response.ts';
import { moveBookmark, type Session } from './session.ts';
import type { FetchInit, StoreOptions } from './types.ts';

/** The options with their defaults, and the session, if there is one. */
export type Client = StoreOptions & typeof DEFAULT_LIMITS & { session?: Session };

/** A request without the headers that can change between attempts. */
export type Outgoing = Pick<FetchInit, 'method' | 'headers' | 'body'> & {
  url: string;
  returns: Returns;
  /** Whether it is sent again after a `transient` failure (send.ts). */
  isRetryable: boolean;
};

/**
 * Three mechanisms end an attempt in time, because no one of them is enough:
 *
 * - The signal asks `fetch` to end, which closes the connection. A custom `fetch` may ignore it.
 * - The race with `ended` ends the attempt, whatever `fetch` and `apiKey` do. What they began goes on.
 * - `readText` cancels the body: also of a response that comes after the end.
 *
 * An attempt that ends without a complete response is a `network_error`, or an `api_key_failed` if it had no key yet.
 */
export function attempt<T>(
  { apiKey, fetch, session, attemptTimeoutMs }: Client,
  { url, method, headers, body, returns }: Outgoing,
  callSignal: AbortSignal,
): Promise<Reply<T> | Failure> {
  // For the failure of an attempt that ends midway.
  let key: string | undefined;
  let head: ReturnType<typeof headOf> | undefined;

  async function exchange(signal: AbortSignal) {
    const token = typeof apiKey === 'function' ? await apiKey() : apiKey;
    checkToken('apiKey', token);
    // The attempt may have ended while the key was fetched.
    signal.throwIfAborted();
    key = token;
    // The bookmark is read before the response arrives. If the session restarts until then, this response must not move the new bookmark.
    const bookmark = session?.bookmark;
    const init: FetchInit = {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${token}`,
        ...(bookmark && { 'x-d1-bookmark': bookmark.value }),
      },
      body,
      signal,
      // A redirect could turn a write into a GET, or send the API key to another server.
      redirect: 'manual',
    };
    const response = await (fetch ?? globalThis.fetch)(url, init);
    head = headOf(response, token);
    if (bookmark) moveBookmark(bookmark, response.headers.get('x-d1-bookmark'));
    return resultOf<T>(await readText(response, signal), response, head, returns, token);
  }

  return within(attemptTimeoutMs, [callSignal], async (signal, ended) => {
    try {
      return await Promise.race([exchange(signal), ended]);
    } catch (error) {
      return key ? networkFailure(error, key, head) : apiKeyFailure(error);
    }
  });
}
