/** CORS: a page of any origin may use the API, with an API key: there are no cookies. */
import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { mutableHeaders } from '../http/mutable-headers.ts';

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
];

const answerPreflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'],
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-D1-Bookmark'],
  // Two hours, the most that Chromium accepts.
  maxAge: 7200,
});

const exposeHeaders = cors({ origin: '*', exposeHeaders: EXPOSED_HEADERS });

/**
 * Before the handler, `cors` would make Hono copy each response:
 * https://github.com/honojs/hono/pull/5187
 */
export const crossOrigin = createMiddleware<AppEnv>(async function crossOrigin(c, next) {
  if (c.req.method === 'OPTIONS') return answerPreflight(c, next);
  await next();
  mutableHeaders(c);
  return exposeHeaders(c, async () => {});
});
