/**
 * `X-D1-Bookmark`: a request that carries it runs in a D1 session, and the nearest replica that has at least that state
 * may serve a read. A request without it runs on the primary (read-your-writes).
 * https://developers.cloudflare.com/d1/best-practices/read-replication/
 */
import type { Context } from 'hono';

export const KEYWORDS = ['first-unconstrained', 'first-primary'];

/** D1's bookmarks today. Cloudflare documents them as opaque. */
const D1_BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;
/** The accepted format, for future bookmarks. A misspelled keyword is not a bookmark. */
export const ACCEPTED_BOOKMARK = /^(?![Ff][Ii][Rr][Ss][Tt])[A-Za-z0-9_.~+/=:-]{1,256}$/;

/** The problem of the request's `X-D1-Bookmark`, if it is invalid. */
export function bookmarkProblems(c: Context): string[] {
  const bookmark = c.req.header('X-D1-Bookmark');
  if (bookmark === undefined || KEYWORDS.includes(bookmark) || ACCEPTED_BOOKMARK.test(bookmark)) {
    return [];
  }
  return [
    'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response',
  ];
}

/** Where the request's D1 session begins; `undefined` without a session. Requires a validated header. */
export function sessionBookmark(c: Context): D1SessionBookmark | D1SessionConstraint | undefined {
  const bookmark = c.req.header('X-D1-Bookmark');
  if (bookmark === undefined) return undefined;
  // The primary has every state, so it also serves bookmarks whose format D1 does not use today.
  const isKnown = KEYWORDS.includes(bookmark) || D1_BOOKMARK.test(bookmark);
  return isKnown ? bookmark : 'first-primary';
}
