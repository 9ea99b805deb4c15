/**
 * The app. A request passes the middleware in this order, then its operation (authenticate, validate, handle). Every
 * thrown error becomes an Error response here.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { AppEnv } from './context.ts';
import { errorResponse, notAllowed, notFound } from './errors.ts';
import { health } from './health/routes.ts';
import { accessLog } from './http/access-log.ts';
import { crossOrigin } from './http/cross-origin.ts';
import { encodedPath } from './http/path.ts';
import { responseHeaders } from './http/response-headers.ts';
import { requireSafeTransport } from './http/safe-transport.ts';
import { orders } from './orders/routes.ts';
import { pets } from './pets/routes.ts';

// Hono's default decodes each broken escape of a path separately, which is slow. `encodedPath` writes `%` as `%25`. Hono decodes
// that once, so handlers get the text that the client sent.
export const app = new Hono<AppEnv>({ getPath: encodedPath });

app.use(responseHeaders);
app.use(accessLog);
// Locally, this check also rejects web pages of other hosts. It precedes CORS, so its response has no CORS headers, and the page
// cannot read it. It also rejects the preflight, so the browser never sends the API key.
app.use(requireSafeTransport);
app.use(crossOrigin);
// Acts on the response: if no route has matched, but the path has other methods, it replaces the 404 by a 405.
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => errorResponse(notAllowed(methods), c),
  }),
);

app.route('/v1', pets);
app.route('/v1', orders);
app.route('/v1', health);
// Without the version segment, for monitors.
app.route('/', health);

app.notFound((c) => errorResponse(notFound(), c));
app.onError(errorResponse);
