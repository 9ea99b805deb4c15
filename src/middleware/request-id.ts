import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';

/**
 * Names the request, in the log and to the client. The id is always ours: one that a client sent
 * could be made to collide with another's in the log.
 */
export const requestId = createMiddleware<AppEnv>(async function requestId(c, next) {
  const id = crypto.randomUUID();
  c.set('requestId', id);
  c.header('X-Request-Id', id);
  await next();
});
