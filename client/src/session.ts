/** Sessions: the bookmark that each request sends, so that a replica responds with at least what the session has seen. */
export type Session = {
  /** A state of the store's D1 database, or where the session starts, such as `first-primary`. */
  bookmark: string;
  /** How often the session has gone back to the primary. */
  restarts: number;
};

/**
 * Moves a session to the bookmark of a response, if that is newer.
 *
 * @param restarts - of the session when the request was sent: a response from before a restart may not show the lost write
 */
export function moveBookmark(session: Session, received: string, restarts: number): void {
  if (session.restarts !== restarts || !received) return;
  // Concurrent responses arrive in any order. Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/
  const isStart = session.bookmark.startsWith('first-');
  if (isStart || received > session.bookmark) session.bookmark = received;
}

/**
 * After a failed attempt: continues from the primary, if the session may have lost the bookmark of a write, or if no replica may have
 * reached its own, which a 503 can mean.
 */
export function restartIfStale(
  session: Session | undefined,
  outcomeUnknown: boolean,
  status: number | undefined,
): void {
  if (!session || (!outcomeUnknown && status !== 503)) return;
  session.bookmark = 'first-primary';
  session.restarts += 1;
}
