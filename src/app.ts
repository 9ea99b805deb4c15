/**
 * The animal store. A request runs straight down: the middleware in this order, then its operation
 * (authenticate, validate, handle), then the query. Whatever is thrown becomes an Error body here.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { AppEnv } from './env.ts';
import { ApiError, errorResponse } from './errors.ts';
import { health } from './health/routes.ts';
import { accessLog } from './middleware/access-log.ts';
import { crossOrigin, preflight } from './middleware/cross-origin.ts';
import { requestId } from './middleware/request-id.ts';
import { requireHttps } from './middleware/require-https.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { orders } from './orders/routes.ts';
import { pets } from './pets/routes.ts';

export const app = new Hono<AppEnv>();

app.use(requestId);
app.use(accessLog);
app.use(securityHeaders);
// Before the preflight: a browser then never sends the key over http.
app.use(requireHttps);
app.use(crossOrigin);
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) =>
      c.req.method === 'OPTIONS' ? preflight(c, methods) : errorResponse(notAllowed(methods), c),
  }),
);

app.route('/v1', pets);
app.route('/v1', orders);
app.route('/v1', health);
// For monitors, which should not depend on a version.
app.route('/', health);

// Returned, not thrown: methodNotAllowed acts on the 404 that comes back.
app.notFound((c) => errorResponse(notFound(), c));
app.onError(errorResponse);

export function notFound(): ApiError {
  return new ApiError('not_found', 'Path not found.');
}

export function notAllowed(methods: string[]): ApiError {
  const allow = methods.join(', ');
  return new ApiError('method_not_allowed', `This path accepts ${allow}.`, {
    headers: { Allow: allow },
  });
}
