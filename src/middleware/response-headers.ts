import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/**
 * For browsers: an answer is what its Content-Type says, loads nothing, and is framed by nobody; and the
 * address is asked over HTTPS only (RFC 6797; without effect on http://localhost).
 *
 * Responses are not stored; `authenticate` adds `private` where a key was required.
 */
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000',
  'Cache-Control': 'no-store',
};

/**
 * Names the request, in the log and to the client, and begins the headers of its response. The id is always
 * ours: one that a client sent could be made to collide with another's in the log.
 */
export const responseHeaders = createMiddleware<AppEnv>(function responseHeaders(c, next) {
  const id = crypto.randomUUID();
  c.set('requestId', id);
  c.set('headers', { 'X-Request-Id': id, ...SECURITY_HEADERS });
  return next();
});
