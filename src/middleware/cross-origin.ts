import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { allowHeader } from '../errors.ts';
import { PATCH_TYPES } from '../http/body.ts';

/** The response headers that a page of another origin may read. */
const EXPOSED = [
  'Link',
  'Location',
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

/** The request headers that a page of another origin may send. */
const ACCEPTED = ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-D1-Bookmark'].join(',');

/** In seconds. Browsers cache a preflight for at most two hours; by default for only five seconds. */
const MAX_AGE = '7200';

/** The methods of all operations. */
const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/**
 * Allows requests from any origin (CORS): there are no cookies, so a page needs an API key.
 *
 * Hono's `cors` creates a response before the handler does. Copying its headers to the handler's response takes longer
 * than the validation of a request.
 */
export const crossOrigin = createMiddleware<AppEnv>(async function crossOrigin(c, next) {
  c.header('Access-Control-Allow-Origin', '*');
  c.header('Access-Control-Expose-Headers', EXPOSED);
  await next();
  // The preflight of an unknown path allows all methods, so that the page can read the 404.
  if (c.req.method === 'OPTIONS' && c.res.status === 404) c.res = preflight(c, []);
});

/** The response to `OPTIONS`: the methods of the path, for browsers (CORS) and other clients (`Allow`). */
export function preflight(c: Context<AppEnv>, methods: string[]): Response {
  return c.body(null, 204, {
    ...(methods.length > 0 && { Allow: allowHeader(methods) }),
    ...(methods.includes('PATCH') && { 'Accept-Patch': PATCH_TYPES.join(', ') }),
    'Access-Control-Allow-Methods': (methods.length > 0 ? methods : ALL_METHODS).join(','),
    'Access-Control-Allow-Headers': ACCEPTED,
    'Access-Control-Max-Age': MAX_AGE,
  });
}
