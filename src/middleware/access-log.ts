/** The log line of a request. */
import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { matchedRoutes } from 'hono/route';
import type { AppEnv } from '../context.ts';

/**
 * Logs one line of JSON for every request, including failed ones. It never contains what may be secret or personal: no
 * raw path, query, body or other free text from the client.
 */
export const accessLog = createMiddleware<AppEnv>(async function accessLog(c, next) {
  const startedAt = Date.now();
  // The code that handles the request adds fields.
  c.set('log', {});
  await next();
  if (c.env.LOG === 'errors' && c.res.status < 400) return;
  const cf = c.req.raw.cf;
  const definition = c.get('definition');
  console.log(
    JSON.stringify({
      time: new Date().toISOString(),
      requestId: c.res.headers.get('X-Request-Id'),
      environment: c.env.ENVIRONMENT,
      method: c.req.method,
      route: matchedRoute(c),
      status: c.res.status,
      durationMs: Date.now() - startedAt,
      keyId: c.get('client')?.keyId,
      ray: rayId(c),
      colo: cf?.colo,
      country: cf?.country,
      operation: definition?.operationId,
      // With the `keyId`, this shows operators which clients to warn.
      deprecated: definition?.deprecation ? true : undefined,
      ...c.get('log'),
    }),
  );
});

/** Cloudflare's id of the request. A client of a local store can send any text in this header. */
function rayId(c: Context<AppEnv>): string | undefined {
  const ray = c.req.header('CF-Ray') ?? '';
  return /^[0-9a-f]{1,32}-[A-Z]{3}$/.test(ray) ? ray : undefined;
}

/** The pattern of the last matched route, which is the operation's. `undefined` if only middleware of `app.use` has matched. */
function matchedRoute(c: Context<AppEnv>): string | undefined {
  const route = matchedRoutes(c).at(-1);
  return route?.method === 'ALL' ? undefined : route?.path;
}
