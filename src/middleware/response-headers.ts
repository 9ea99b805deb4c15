import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/**
 * Browsers do not sniff the media type, load no resources, do not frame the response, and use only HTTPS for this host
 * (RFC 6797; no effect on http://localhost). Caches store no response; `authenticate` adds `private`.
 */
const SECURITY_HEADERS = [
  ['X-Content-Type-Options', 'nosniff'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['Strict-Transport-Security', 'max-age=31536000'],
  ['Cache-Control', 'no-store'],
] as const;

/**
 * Creates the request id and sets the headers that every response has. A request id from the client is ignored, because
 * it could collide with another one in the log.
 */
export const responseHeaders = createMiddleware<AppEnv>(async function responseHeaders(c, next) {
  const id = crypto.randomUUID();
  c.set('requestId', id);
  const setHeaders = () => {
    c.header('X-Request-Id', id);
    for (const [name, value] of SECURITY_HEADERS) c.header(name, value);
  };
  setHeaders();
  await next();
  // Only responses made with `c` have them, such as `c.json`: a handler can also return `new Response()`.
  if (!c.res.headers.has('X-Request-Id')) setHeaders();
});
