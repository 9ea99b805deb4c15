import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

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
 * Creates the request id and sets the headers that every response has. A request id from the client is ignored, because
 * it could collide with another one in the log. Caches store no response, unless its handler sets `Cache-Control`.
 *
 * Like Hono's `secureHeaders`, it sets the headers on the finished response: the runtime copies each one that `c.header`
 * sets before.
 */
export const responseHeaders = createMiddleware<AppEnv>(async function responseHeaders(c, next) {
  const id = crypto.randomUUID();
  c.set('requestId', id);
  await next();

  // Operations need an API key.
  const cacheControl = c.get('operation') ? 'private, no-store' : 'no-store';
  const setHeaders = ({ headers }: Response) => {
    headers.set('X-Request-Id', id);
    for (const [name, value] of SECURITY_HEADERS) headers.set(name, value);
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', cacheControl);
  };
  try {
    setHeaders(c.res);
  } catch {
    // The headers of a response from `fetch` are immutable. Those of a copy are not.
    c.res = new Response(c.res.body, c.res);
    setHeaders(c.res);
  }
});
