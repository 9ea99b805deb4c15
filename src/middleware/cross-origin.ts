import { cors } from 'hono/cors';
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/** What a page of another origin may read of a response. */
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
 * Lets pages of any origin call (CORS): the service knows no cookies, so a foreign page can do nothing
 * without a key. Only preflights go through Hono's `cors`: it makes a response before the handler makes
 * its own, and the copying of headers from one to the other takes longer than all of the validation.
 */
export const crossOrigin = createMiddleware<AppEnv>(async function crossOrigin(c, next) {
  if (c.req.method === 'OPTIONS') return preflight(c, next);
  c.header('Access-Control-Allow-Origin', '*');
  c.header('Access-Control-Expose-Headers', EXPOSED);
  await next();
});
