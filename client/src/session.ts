/** Sessions: the bookmark that each request sends, so that a replica responds with at least what the session has seen. */
export type Session = { bookmark: Bookmark };

/** A restart replaces it. Then the response of an earlier request, which may not show a lost write, moves nothing. */
export type Bookmark = {
  /** A state of the store's D1 database, or where the session starts, such as `first-primary`. */
  value: string;
};

/** Moves a bookmark to that of a response, if this is newer. */
export function moveBookmark(bookmark: Bookmark, received: string | null): void {
  // Concurrent responses arrive in any order. Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/
  const isStart = bookmark.value.startsWith('first-');
  if (received && (isStart || received > bookmark.value)) bookmark.value = received;
}

/**
 * After a failed attempt: continues from the primary, if the session may have lost the bookmark of a write, or if no replica may have
 * reached its own, which a 503 can mean.
 */
export function restartIfStale(
  session: Session | undefined,
  outcomeUnknown: boolean,
  status?: number,
): void {
  if (session && (outcomeUnknown || status === 503)) session.bookmark = { value: 'first-primary' };
}
