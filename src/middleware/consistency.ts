import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';

/** A bookmark as D1 makes them today. Cloudflare documents it as opaque. */
export const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

/** The characters and the length of any bookmark that this service accepts. */
const TOKEN = /^[\w.~+/=:-]{1,256}$/;
export const TOKEN_PATTERN = TOKEN.source;
const MISSPELLED_KEYWORD = /^first/i;

/**
 * Runs a request that carries `X-D1-Bookmark` in a D1 session: a read may be answered by the nearest
 * replica that has at least that state. A request without the header reads the primary (read-your-writes).
 * https://developers.cloudflare.com/d1/best-practices/read-replication/
 */
export const consistency = createMiddleware<AppEnv>(async function consistency(c, next) {
  const bookmark = c.req.header('X-D1-Bookmark');
  if (bookmark !== undefined) {
    const isKeyword = bookmark === 'first-unconstrained' || bookmark === 'first-primary';
    if (!isKeyword && (!TOKEN.test(bookmark) || MISSPELLED_KEYWORD.test(bookmark))) {
      throw new ApiError(
        'invalid_request',
        'X-D1-Bookmark: must be first-unconstrained, first-primary, or the bookmark of an earlier response',
      );
    }
    // Writes go to the primary in any case. It has every state, so it also serves what is not recognized.
    const isRead = c.req.method === 'GET' || c.req.method === 'HEAD';
    const isRecognized = isKeyword || BOOKMARK.test(bookmark);
    c.set('bookmark', isRead && isRecognized ? bookmark : 'first-primary');
  }
  await next();
});
