/**
 * The app. A request passes the middleware in this order, then its operation (authenticate, validate, handle). Every
 * thrown error becomes an Error response here.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { AppEnv } from './env.ts';
import { errorResponse, notAllowed, notFound } from './errors.ts';
import { health } from './health/routes.ts';
import { pathAsSent } from './http/path.ts';
import { accessLog } from './middleware/access-log.ts';
import { crossOrigin, preflight } from './middleware/cross-origin.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import { requireSafeTransport } from './middleware/safe-transport.ts';
import { orders } from './orders/routes.ts';
import { pets } from './pets/routes.ts';

// Hono's default path decodes broken escapes one by one, which is slow.
export const app = new Hono<AppEnv>({ getPath: pathAsSent });

app.use(responseHeaders);
app.use(accessLog);
// Before the CORS preflight, so that a browser never sends the key over http.
app.use(requireSafeTransport);
app.use(crossOrigin);
// After a 404: a known path gets a 405, or for OPTIONS its preflight. `crossOrigin` answers OPTIONS of an unknown path.
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
// Without the version segment, for monitors.
app.route('/', health);

app.notFound((c) =>
  // The response to OPTIONS is replaced, see above: it must not log an error.
  c.req.method === 'OPTIONS' ? c.body(null, 404) : errorResponse(notFound(), c),
);
app.onError(errorResponse);
