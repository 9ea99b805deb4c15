/**
 * The app. A request passes the middleware in this order, then its operation (authenticate, validate, handle). Every
 * thrown error becomes an Error response here.
 */
import './http/bigint-to-json.ts';
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { getPath } from 'hono/utils/url';
import type { AppEnv } from './context.ts';
import { errorResponse } from './error-response.ts';
import { notAllowed, notFound } from './errors.ts';
import { health } from './health/routes.ts';
import { isDecodable } from './http/query-text.ts';
import { VERSION_PATH } from './http/urls.ts';
import { accessLog } from './middleware/access-log.ts';
import { crossOrigin } from './middleware/cross-origin.ts';
import { requireHttps } from './middleware/require-https.ts';
import { requireLoopbackOrigin } from './middleware/require-loopback-origin.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import { orders } from './orders/routes.ts';
import { pets } from './pets/routes.ts';

export const app = new Hono<AppEnv>({ getPath: readPath });

// First, because it logs the response, and the id of the request that `responseHeaders` gives it.
app.use(accessLog);
app.use(responseHeaders);
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
export type AppType = typeof routes;

app.notFound((c) => errorResponse(notFound(), c));
app.onError(errorResponse);

/**
 * The path of a request, as Hono reads it: `%37` is `7` (RFC 3986, section 6.2.2.2). If an escape is broken, the path counts as it was
 * sent: each `%` is written as `%25`, which Hono decodes. Otherwise Hono would decode each escape separately, which takes 10 ms for
 * a path of 16 KB: https://github.com/honojs/hono/pull/2714
 */
function readPath(request: Request): string {
  const [url = ''] = request.url.split('?', 1);
  if (isDecodable(url)) return getPath(request);
  // The first slash after the host. For `http://`, the search starts one character late, which is still before that slash.
  return url.slice(url.indexOf('/', 'https://'.length)).replaceAll('%', '%25');
}
