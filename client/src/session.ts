/** Sessions: the bookmark that each request sends, so that a replica responds with at least what the session has seen. */
export type Session = { bookmark: Bookmark };

/**
 * An object, because a restart of the session replaces it. So a response to an earlier request moves only the old bookmark:
 *
 *     read A      sent with the bookmark b1
 *     write B     fails, and was perhaps carried out: the session continues with a new bookmark, `first-primary`
 *     read A      gets its response, which may be older than B: its bookmark b2 replaces b1 in the old object
 *     read C      sent with `first-primary`, and so sees B
 */
export type Bookmark = {
  /** A state of the store's D1 database, or where the session starts, such as `first-primary`. */
  value: string;
};

/** Moves a bookmark to the one of a response, if that is newer. */
export function moveBookmark(bookmark: Bookmark, received: string | null): void {
  // Concurrent responses arrive in any order. Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/
  const isStart = bookmark.value.startsWith('first-');
  if (received && (isStart || received > bookmark.value)) bookmark.value = received;
}

/**
 * Continues a session from the primary after a failed attempt, if:
 *
 * - its call's outcome is unknown: perhaps a write was carried out, and its bookmark was lost.
 * - its status is 503: perhaps no replica has reached the session's bookmark.
 */
export function restartIfStale(
  session: Session | undefined,
  outcomeUnknown: boolean,
  status?: number,
): void {
  if (session && (outcomeUnknown || status === 503)) session.bookmark = { value: 'first-primary' };
}
