import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';
import { respond } from '../http/responses.ts';

/** The response headers that a page of another origin may read. */
const EXPOSED = [
  'Link',
  'Location',
  'Accept',
  'Accept-Encoding',
  'Allow',
  'Deprecation',
  'Sunset',
  'Retry-After',
  'WWW-Authenticate',
  'Idempotency-Replayed',
  'X-D1-Bookmark',
  'X-Request-Id',
].join(',');

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': EXPOSED,
};

/** The request headers that a page of another origin may send. */
const ACCEPTED = ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-D1-Bookmark'].join(',');

/** In seconds. Browsers cache a preflight for at most two hours; by default for only five seconds. */
const MAX_AGE = '7200';

/** The methods of all operations. */
export const ALL_METHODS = ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE'];

/**
 * Allows requests from any origin (CORS): there are no cookies, so a page needs an API key. In the local environment
 * the key is public, so only pages on the loopback host are allowed.
 *
 * Hono's `cors` creates a response before the handler does. Copying its headers to the handler's response takes longer
 * than the validation of a request.
 */
export const crossOrigin = createMiddleware<AppEnv>(function crossOrigin(c, next) {
  const origin = c.req.header('Origin');
  if (c.env.ENVIRONMENT === 'local' && origin !== undefined && !isLoopback(origin)) {
    throw foreignOrigin();
  }
  Object.assign(c.get('headers'), HEADERS);
  return next();
});

/**
 * The response to `OPTIONS`: the methods of the path, for browsers (CORS) and other clients (`Allow`). An unknown path
 * has none. Its preflight allows all methods, so that the page can read the 404.
 */
export function preflight(c: Context<AppEnv>, methods: string[]): Response {
  const isKnown = methods.length > 0;
  Object.assign(c.get('headers'), {
    ...(isKnown && { Allow: methods.join(', ') }),
    'Access-Control-Allow-Methods': (isKnown ? methods : ALL_METHODS).join(','),
    'Access-Control-Allow-Headers': ACCEPTED,
    'Access-Control-Max-Age': MAX_AGE,
  });
  return respond(c, 204);
}

export function foreignOrigin(): ApiError {
  return new ApiError(
    'invalid_request',
    'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment',
  );
}

/** Whether an origin names the loopback host (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3). */
function isLoopback(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  const isPage = protocol === 'http:' || protocol === 'https:';
  return isPage && /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
