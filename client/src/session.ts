/** Sessions: the bookmark that each request sends, so that a replica responds with at least what the session has seen. */
import type { Failure, Reply } from './response.ts';

export type Session = {
  /** A state of the store's D1 database, or where the session starts, such as `first-primary`. */
  bookmark: string;
  /** How often the session has gone back to the primary. */
  restarts: number;
};

/**
 * The only function that changes the bookmark of a session: after each attempt.
 *
 * @param restarts - of the session before the attempt
 * @param outcomeUnknown - whether the call may have written something whose bookmark was lost
 */
export function moveBookmark(
  session: Session | undefined,
  restarts: number | undefined,
  result: Reply<unknown> | Failure,
  outcomeUnknown: boolean,
): void {
  if (!session) return;
  // A 503 can mean that no replica has reached the bookmark of the session.
  if (!('data' in result) && (outcomeUnknown || result.status === 503)) {
    session.bookmark = 'first-primary';
    session.restarts += 1;
    return;
  }
  // A request from before a restart may not have seen the lost write.
  if (session.restarts !== restarts || !result.bookmark) return;
  // Concurrent responses arrive in any order. Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/
  const isStart = session.bookmark.startsWith('first-');
  if (isStart || result.bookmark > session.bookmark) session.bookmark = result.bookmark;
}
