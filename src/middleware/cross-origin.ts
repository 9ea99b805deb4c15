import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';

/** The response headers that a page of another origin may read. */
const EXPOSED = [
  'Link',
  'Location',
  'Allow',
  'Deprecation',
  'Sunset',
  'Retry-After',
  'WWW-Authenticate',
  'Idempotency-Replayed',
  'X-D1-Bookmark',
  'X-Request-Id',
].join(',');

const preflight = cors({
  origin: '*',
  allowMethods: ['GET', 'HEAD', 'POST'],
  allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-D1-Bookmark'],
  // Browsers keep a preflight two hours at most; without this, nearly each call costs one.
  maxAge: 7200,
});

/**
 * Admits pages of any origin (CORS): there are no cookies, so a page can do nothing without an API key.
 * In the local environment the key is public, so only pages on the loopback host are admitted.
 *
 * Only preflights use Hono's `cors`: it creates a response before the handler does, and copying the
 * headers from one to the other takes longer than all of the validation.
 */
export const crossOrigin = createMiddleware<AppEnv>(async function crossOrigin(c, next) {
  const origin = c.req.header('Origin');
  if (c.env.ENVIRONMENT === 'local' && origin !== undefined && !isLoopback(origin)) {
    throw new ApiError(
      'invalid_request',
      'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment',
    );
  }
  if (c.req.method === 'OPTIONS') return preflight(c, next);
  c.header('Access-Control-Allow-Origin', '*');
  c.header('Access-Control-Expose-Headers', EXPOSED);
  await next();
});

/** Whether an origin names the loopback host (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3). */
function isLoopback(origin: string): boolean {
  if (!URL.canParse(origin)) return false;
  const { protocol, hostname } = new URL(origin);
  const isPage = protocol === 'http:' || protocol === 'https:';
  return isPage && /^(?:(?:[^.]+\.)*localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
