/**
 * The app. A request passes the middleware in this order, then its operation (authenticate, validate, handle), then
 * the query. Every thrown error becomes an Error response here.
 */
import { ApiError, errorResponse } from './errors.ts';
import { health } from './health/routes.ts';
import { accessLog } from './middleware/access-log.ts';
import { ALL_METHODS, crossOrigin, preflight } from './middleware/cross-origin.ts';
import { requireHttps } from './middleware/require-https.ts';
import { responseHeaders } from './middleware/response-headers.ts';
import { orders } from './orders/routes.ts';
import { pets } from './pets/routes.ts';
import { createRouter } from './router.ts';

export const app = createRouter();

app.use(responseHeaders);
app.use(accessLog);
// Before the CORS preflight, so that a browser never sends the key over http.
app.use(requireHttps);
app.use(crossOrigin);

app.route('/v1', pets);
app.route('/v1', orders);
app.route('/v1', health);
// Without the version segment, for monitors.
app.route('/', health);

app.notFound((c) => {
  const methods = methodsOf(c.req.path);
  if (c.req.method === 'OPTIONS') return preflight(c, methods);
  return errorResponse(methods.length > 0 ? notAllowed(methods) : notFound(), c);
});
app.onError(errorResponse);

/** The methods of the operations at a path. */
function methodsOf(path: string): string[] {
  return ALL_METHODS.filter((method) => {
    // HEAD works where GET does.
    const [matches] = app.router.match(method === 'HEAD' ? 'GET' : method, path);
    // Middleware matches all methods.
    return matches.some(([[, route]]) => route.method !== 'ALL');
  });
}

export function notFound(): ApiError {
  return new ApiError('not_found', 'Path not found.');
}

export function notAllowed(methods: string[]): ApiError {
  const allow = methods.join(', ');
  return new ApiError('method_not_allowed', `This path accepts ${allow}.`, {
    headers: { Allow: allow },
  });
}
