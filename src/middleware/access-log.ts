import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { AppEnv } from '../env.ts';

/**
 * Writes one line of JSON per request, whatever became of it. What may hold a secret or a person's
 * data never enters it: no raw path, no query, no free text of the client's, no body.
 */
export const accessLog = createMiddleware<AppEnv>(async function accessLog(c, next) {
  const startedAt = Date.now();
  c.set('log', {});
  await next();
  const cf = c.req.raw.cf;
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      requestId: c.get('requestId'),
      environment: c.env.ENVIRONMENT,
      method: c.req.method,
      route: matchedRoute(c),
      status: c.res.status,
      durationMs: Date.now() - startedAt,
      keyId: c.get('key')?.id,
      ray: /^[0-9a-f]{1,32}-[A-Z]{3}$/.exec(c.req.header('CF-Ray') ?? '')?.[0],
      colo: cf?.colo,
      country: cf?.country,
      ...c.get('log'),
    }),
  );
});

/** The pattern of the route that answered; a request that matched none, or was refused as 405, has none. */
function matchedRoute(c: Context<AppEnv>): string | undefined {
  const pattern = routePath(c, -1);
  return pattern === '/*' ? undefined : pattern;
}
