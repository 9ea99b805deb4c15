import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/**
 * Browsers do not sniff the media type, load no resources, do not frame the response, and use only HTTPS for this host
 * (RFC 6797; no effect on http://localhost). Caches store no response; `authenticate` adds `private`.
 */
const SECURITY_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Strict-Transport-Security': 'max-age=31536000',
  'Cache-Control': 'no-store',
};

/**
 * Creates the request id and sets the headers that every response has. A request id from the client is ignored, because
 * it could collide with another one in the log.
 */
export const responseHeaders = createMiddleware<AppEnv>(function responseHeaders(c, next) {
  const id = crypto.randomUUID();
  c.set('requestId', id);
  c.header('X-Request-Id', id);
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) c.header(name, value);
  return next();
});
