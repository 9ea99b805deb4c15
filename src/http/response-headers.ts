/** The headers of every response. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';

/**
 * Browsers do not sniff the media type, load no resources, do not frame the response, and use only HTTPS for this host
 * (RFC 6797; no effect on http://localhost).
 */
const SECURITY_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Strict-Transport-Security', 'max-age=31536000'],
] as const;

/**
 * Sets the headers that every response has, on the finished response. Hono's `secureHeaders` does the same, but nine of its
 * other headers would have to be switched off. By default, Hono's middleware `requestId` accepts an id from the client.
 */
export const responseHeaders = createMiddleware<AppEnv>(async (c, next) => {
  const requestId = crypto.randomUUID();
  c.set('requestId', requestId);
  await next();
  const { headers } = c.res;
  headers.set('X-Request-Id', requestId);
  for (const [name, value] of SECURITY_HEADERS) headers.set(name, value);
  // The response of an operation may belong to one client. Some shared caches are set to ignore `no-store`: `private` stops them.
  // `operation` sets the definition.
  const isOperation = c.get('definition') !== undefined;
  headers.set('Cache-Control', isOperation ? 'private, no-store' : 'no-store');
});
