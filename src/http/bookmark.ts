import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';
import type { Scope } from '../keys/record.ts';

/** The current format of D1's bookmarks. Cloudflare documents them as opaque. */
export const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

/** The format that a future bookmark could have. */
export const TOKEN = /^[A-Za-z0-9_.~+/=:-]{1,256}$/;
const MISSPELLED_KEYWORD = /^first/i;

const BOOKMARK_PROBLEM =
  'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';

/**
 * Reads `X-D1-Bookmark`. A request that carries it runs in a D1 session: the nearest replica that has at least that
 * state may serve a read. A request without it runs on the primary (read-your-writes).
 * https://developers.cloudflare.com/d1/best-practices/read-replication/
 *
 * @returns the problem, if the header is invalid.
 */
export function readBookmark(c: Context<AppEnv>, scope: Scope): string[] {
  const bookmark = c.req.header('X-D1-Bookmark');
  if (bookmark === undefined) return [];
  const isKeyword = bookmark === 'first-unconstrained' || bookmark === 'first-primary';
  if (!isKeyword && (!TOKEN.test(bookmark) || MISSPELLED_KEYWORD.test(bookmark))) {
    return [BOOKMARK_PROBLEM];
  }
  // Writes always go to the primary. It has every state, so it also serves bookmarks of an unrecognized format.
  const isRecognized = isKeyword || BOOKMARK.test(bookmark);
  c.set('bookmark', scope === 'read' && isRecognized ? bookmark : 'first-primary');
  return [];
}
