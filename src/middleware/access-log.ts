import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import type { AppEnv } from '../env.ts';

/**
 * Logs one line of JSON for every request, including failed ones. It never contains what may be secret or personal: no
 * raw path, query, body or other free text from the client.
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
      keyId: c.get('client')?.keyId,
      ray: /^[0-9a-f]{1,32}-[A-Z]{3}$/.exec(c.req.header('CF-Ray') ?? '')?.[0],
      colo: cf?.colo,
      country: cf?.country,
      ...c.get('log'),
    }),
  );
});

/** The pattern of the matched route; `undefined` for a 404 or 405 without an operation. */
function matchedRoute(c: Context<AppEnv>): string | undefined {
  const pattern = routePath(c, -1);
  return pattern === '/*' ? undefined : pattern;
}
