/** CORS. */
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';

/** The response headers that a page may read. */
const EXPOSED_HEADERS = [
  'Link',
  'Location',
  // These three belong to a 415.
  'Accept',
  'Accept-Encoding',
  'Accept-Patch',
  'Allow',
  'Deprecation',
  'Sunset',
  'Retry-After',
  'WWW-Authenticate',
  'Idempotency-Replayed',
  'X-D1-Bookmark',
  'X-Request-Id',
].join(',');

const answerPreflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-D1-Bookmark'],
  // Two hours, the most that Chromium accepts. By default, browsers cache a preflight for five seconds.
  maxAge: 7200,
});

/**
 * Allows requests from any origin, which is safe: there are no cookies, so a page needs an API key. Answers every OPTIONS as a
 * preflight. Other responses get their headers when they are finished: `cors` would set them before the handler runs, and Hono
 * would then copy every response, which takes CPU time: https://github.com/honojs/hono/pull/5187
 */
export const crossOrigin = createMiddleware<AppEnv>(async function crossOrigin(c, next) {
  if (c.req.method === 'OPTIONS') return answerPreflight(c, next);
  await next();
  try {
    allowAnyOrigin(c.res.headers);
  } catch {
    // The headers of `Response.redirect`, and of the response of a `fetch`, are immutable.
    c.res = new Response(c.res.body, c.res);
    allowAnyOrigin(c.res.headers);
  }
});

function allowAnyOrigin(headers: Headers): void {
  headers.set('Access-Control-Allow-Origin', '*');
  headers.set('Access-Control-Expose-Headers', EXPOSED_HEADERS);
}
