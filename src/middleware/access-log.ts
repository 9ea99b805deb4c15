import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { routePath } from 'hono/route';
import { type AppEnv, logOf } from '../context.ts';

/** One line of JSON for every request, without a path, query, body or other text of the client. */
export const accessLog = createMiddleware<AppEnv>(async function accessLog(c, next) {
  const startedAt = Date.now();
  await next();
  if (c.env.LOG === 'errors' && c.res.status < 400) return;
  const cf = c.req.raw.cf;
  const definition = c.get('definition');
  const log = logOf(c);
  // A 503 for stopped writes (which has no cause), or for a bookmark that no replica reaches, is no
  // failure.
  const isOutage = c.res.status === 503 && log.cause !== undefined && !c.get('db')?.readsReplica;
  const isFailure = isOutage || c.res.status === 500;
  const print = isFailure ? console.error : console.log;
  print(
    JSON.stringify({
      time: new Date().toISOString(),
      requestId: c.get('requestId'),
      environment: c.env.ENVIRONMENT,
      method: c.req.method,
      // `/*` if only middleware has matched.
      route: routePath(c, -1),
      status: c.res.status,
      durationMs: Date.now() - startedAt,
      keyId: c.get('client')?.keyId,
      ray: rayId(c),
      colo: cf?.colo,
      country: cf?.country,
      operation: definition?.operationId,
      // With the `keyId`, this shows operators which clients to warn.
      deprecated: definition?.deprecation ? true : undefined,
      ...log,
    }),
  );
});

/** A client of a local store can send any text in this header. */
function rayId(c: Context<AppEnv>): string | undefined {
  const ray = c.req.header('CF-Ray') ?? '';
  return /^[0-9a-f]{1,32}-[A-Z]{3}$/.test(ray) ? ray : undefined;
}
