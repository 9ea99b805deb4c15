/**
 * The app. A request passes the middleware in this order, then its operation (authenticate, validate, handle). Every
 * thrown error becomes an Error response here.
 */
import { Hono } from 'hono';
import type { ApplyGlobalResponse } from 'hono/client';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { AppEnv } from './context.ts';
import { type ErrorResponses, errorResponse, notAllowed, notFound } from './errors.ts';
import { health } from './health/routes.ts';
import { VERSION_PATH } from './http/responses.ts';
import { accessLog } from './middleware/access-log.ts';
import { crossOrigin } from './middleware/cross-origin.ts';
import { requireHttps } from './middleware/require-https.ts';
import { requireLoopbackOrigin } from './middleware/require-loopback-origin.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import { orders } from './orders/routes.ts';
import { pets } from './pets/routes.ts';

export const app = new Hono<AppEnv>({ getPath: encodedPath });

// First, because it sets the id of the request, which the log line has.
app.use(responseHeaders);
app.use(accessLog);
app.use(requireHttps);
// Protects the service in the local environment from the pages of other hosts. Before CORS, so its response has no CORS headers,
// and the rejected page cannot read it. It also rejects the preflight, so the browser never sends the API key.
app.use(requireLoopbackOrigin);
app.use(crossOrigin);
// Acts on the response: if no route has matched, but the path has other methods, it replaces the 404 by a 405.
app.use(
  methodNotAllowed({
    app,
    onMethodNotAllowed: (c, methods) => errorResponse(notAllowed(methods), c),
  }),
);

const routes = app
  .route(VERSION_PATH, pets)
  .route(VERSION_PATH, orders)
  .route(VERSION_PATH, health)
  // Without the version segment, for monitors.
  .route('/', health);

/** The type of every route, its requests and its responses, for `hc<AppType>()` and `testClient<AppType>()`. */
export type AppType = ApplyGlobalResponse<typeof routes, ErrorResponses>;

app.notFound((c) => errorResponse(notFound(), c));
app.onError(errorResponse);

/**
 * The path that Hono matches. Hono decodes the values of parameters once, so each `%` is written as `%25`: the two cancel out.
 * So a path counts exactly as the worker receives it: `/v1/%68ealth` is a 404, and `/v1/pets/%31` is not the pet 1. Hono's
 * default is also slow: it decodes each broken escape separately, and needs 10 ms for a path of 16 KB of them.
 * https://github.com/honojs/hono/pull/2714
 */
function encodedPath({ url }: Request): string {
  // Not `new URL(url).pathname`, which resolves `%2e%2e`, as wrangler does locally: then `/v1/x/%2e%2e/pets` would be the list
  // of pets.
  const [withoutQuery = ''] = url.split('?', 1);
  // The first slash after the host. For `http://`, the search starts one character late, which is still before that slash.
  const pathStart = withoutQuery.indexOf('/', 'https://'.length);
  return withoutQuery.slice(pathStart).replaceAll('%', '%25');
}
