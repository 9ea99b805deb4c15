import type { MiddlewareHandler } from 'hono';
import { type AppEnv, logOf } from '../context.ts';
import { Database } from '../d1/database.ts';
import type { AuthenticatedDefinition } from '../operation/definition.ts';
import { mutableHeaders } from './mutable-headers.ts';
import { bookmarkOf, requireValidHeaders, SESSION_STARTS } from './request-headers.ts';
import { databaseError } from './unavailable.ts';

/** D1's bookmarks today. Cloudflare documents them as opaque. */
const D1_BOOKMARK = /^([0-9a-f]{8}-){3}[0-9a-f]{32}$/;

/**
 * Opens `c.get('db')` at the state that `X-D1-Bookmark` names, and sets that of the response.
 *
 * @throws ApiError 400 for invalid headers.
 */
export function openDatabase(definition: AuthenticatedDefinition): MiddlewareHandler<AppEnv> {
  return async function openDatabase(c, next) {
    requireValidHeaders(c, definition);
    const start = definition.scope === 'read' ? startOfRead(bookmarkOf(c)) : 'first-primary';
    const db = new Database(c.env.DB, {
      start,
      statistics: logOf(c),
      toError: (failure) => databaseError(c, failure),
    });
    c.set('db', db);
    await next();
    if (db.bookmark) mutableHeaders(c).set('X-D1-Bookmark', db.bookmark);
  };
}

/** Without a bookmark, the primary: a replica could lack a write that the client knows of. */
function startOfRead(bookmark: string): string {
  const isKnown = SESSION_STARTS.includes(bookmark) || D1_BOOKMARK.test(bookmark);
  return isKnown ? bookmark : 'first-primary';
}
