/** One attempt: sends the request once, and reads the response. */
import { within } from './deadline.ts';
import { failureOf } from './fetch-error.ts';
import { type Client, checkToken } from './options.ts';
import { type BodyType, type Failure, headOf, type Reply, readText, resultOf } from './response.ts';
import { moveBookmark } from './session.ts';
import type { FetchInit } from './types.ts';

/** A request without the headers that can change between attempts. */
export type Outgoing = Omit<FetchInit, 'signal' | 'redirect'> & {
  url: string;
  bodyType: BodyType;
  /** Whether it is sent again after a `transient` failure (send.ts). */
  isRetryable: boolean;
};

/**
 * Three mechanisms end an attempt in time, because none of them is enough alone:
 *
 * - The signal asks `fetch` to end, which closes the connection. A custom `fetch` may ignore the signal.
 * - The race with `ended` ends the attempt, even if `fetch` or `apiKey` goes on.
 * - `readText` cancels the body, even if the response arrives after the attempt has ended.
 *
 * An attempt that ends midway fails with `network_error`, or with `api_key_failed` if it had no key yet.
 */
export function attempt<T>(
  { apiKey, fetch: customFetch, session, attemptTimeoutMs }: Client,
  { url, method, headers, body, bodyType }: Outgoing,
  callSignal: AbortSignal,
): Promise<Reply<T> | Failure> {
  // Set by `exchange`. If the attempt ends midway, its failure hides the key, and has the head of the response.
  let sentKey: string | undefined;
  let head: ReturnType<typeof headOf> | undefined;

  async function exchange(signal: AbortSignal) {
    const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
    checkToken('apiKey', key);
    // The attempt may have ended while the key was fetched.
    signal.throwIfAborted();
    sentKey = key;
    // Read before the request is sent: if the session restarts meanwhile, the response must not move the new bookmark.
    const bookmark = session?.bookmark;
    const response = await (customFetch ?? fetch)(url, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${key}`,
        ...(bookmark && { 'x-d1-bookmark': bookmark.value }),
      },
      body,
      signal,
      // A redirect could turn a write into a GET, or send the API key to another server.
      redirect: 'manual',
    });
    head = headOf(response, key);
    if (bookmark) moveBookmark(bookmark, response.headers.get('x-d1-bookmark'));
    const text = await readText(response, signal);
    return resultOf<T>(text, response, head, bodyType, key);
  }

  return within(attemptTimeoutMs, [callSignal], async (signal, ended) => {
    try {
      return await Promise.race([exchange(signal), ended]);
    } catch (error) {
      // The reason of an abort by the caller, whose cause can be a failed connection of another call, proves nothing.
      return failureOf(callSignal.aborted ? undefined : error, sentKey, head);
    }
  });
}
