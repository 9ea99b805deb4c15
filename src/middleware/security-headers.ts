import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/**
 * For browsers: an answer is what its Content-Type says, loads nothing, and is framed by nobody; and the
 * address is asked over HTTPS only (RFC 6797; without effect on http://localhost).
 *
 * Responses are not stored; `authenticate` adds `private` where a key was required.
 */
export const securityHeaders = createMiddleware<AppEnv>(async function securityHeaders(c, next) {
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  c.header('Strict-Transport-Security', 'max-age=31536000');
  c.header('Cache-Control', 'no-store');
  await next();
});
