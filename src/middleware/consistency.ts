import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';

/** A bookmark as D1 makes them. Locally anything would pass, and come back for ever. */
export const BOOKMARK = /^[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{8}-[0-9a-f]{32}$/;

/**
 * Runs a request that carries `X-D1-Bookmark` in a D1 session: it may be answered by the nearest replica
 * that has at least that state. Any other goes to the primary: what you wrote, you read.
 * https://developers.cloudflare.com/d1/best-practices/read-replication/
 */
export const consistency = createMiddleware<AppEnv>(async function consistency(c, next) {
  const bookmark = c.req.header('X-D1-Bookmark');
  if (bookmark !== undefined) {
    if (!['first-unconstrained', 'first-primary'].includes(bookmark) && !BOOKMARK.test(bookmark)) {
      throw new ApiError(
        'invalid_request',
        'X-D1-Bookmark: must be first-unconstrained, first-primary, or the one of an earlier response',
      );
    }
    c.set('session', c.env.DB.withSession(bookmark));
  }
  await next();
});
