import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/** No browser may take an answer for anything but what its Content-Type says. */
export const securityHeaders = createMiddleware<AppEnv>(async function securityHeaders(c, next) {
  c.header('X-Content-Type-Options', 'nosniff');
  await next();
});
