/** The app: its middleware in their order, then the routes. */
import { type Context, Hono, type Next } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { requestId } from 'hono/request-id';
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

const base = new Hono<AppEnv>({ getPath: readPath });

// Without a header, so that a client cannot choose the id.
base.use(requestId({ headerName: '' }));
base.use(accessLog);
base.use(responseHeaders);
base.use(throwErrors);
base.use(requireHttps);
// Before CORS: the preflight of the rejected page fails, so the browser never sends the API key.
base.use(requireLoopbackOrigin);
base.use(crossOrigin);
base.use(
  methodNotAllowed({
    app: base,
    onMethodNotAllowed: (c, methods) => errorResponse(notAllowed(methods), c),
  }),
);

/** Typed with every route, for `hc`. */
export const app = base
  .route(VERSION_PATH, pets)
  .route(VERSION_PATH, orders)
  .route(VERSION_PATH, health)
  // Without the version segment, for monitors.
  .route('/', health)
  .notFound((c) => errorResponse(notFound(), c))
  .onError(errorResponse);

export type AppType = typeof app;

/** Hono passes only Errors to `onError`. */
function throwErrors(_: Context, next: Next): Promise<void> {
  return next().catch((thrown) => {
    throw new Error(`${thrown}`, { cause: thrown });
  });
}

/**
 * As Hono reads it: `%37` is `7` (RFC 3986, section 6.2.2.2). With a broken escape, it stays as it
 * was sent: Hono would decode each escape separately. https://github.com/honojs/hono/pull/2714
 */
function readPath(request: Request): string {
  const [url = ''] = request.url.split('?', 1);
  return isDecodable(url)
    ? getPath(request)
    : url.replace(/^https?:\/\/[^/]*/, '').replaceAll('%', '%25');
}
