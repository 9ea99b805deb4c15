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

/** Continues from the primary, because the session may have lost the bookmark of a write, or no replica has reached its own. */
export function restartSession(session: Session): void {
  session.bookmark = 'first-primary';
  session.restarts += 1;
}
