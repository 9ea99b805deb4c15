/**
 * The animal store. A request runs straight down: the middleware in this order, then the operation's
 * own (authenticate, validate, handle), then its query. Whatever is thrown becomes an Error body here.
 */
import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { AppEnv } from './env.ts';
import { ApiError, errorResponse } from './errors.ts';
import { health } from './health.ts';
import { accessLog } from './middleware/access-log.ts';
import { crossOrigin } from './middleware/cross-origin.ts';
import { requestId } from './middleware/request-id.ts';
import { requireHttps } from './middleware/require-https.ts';
import { securityHeaders } from './middleware/security-headers.ts';
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
    onMethodNotAllowed: (c, methods) => {
      const allow = methods.join(', ');
      const message = `This path takes ${allow}.`;
      return errorResponse(
        new ApiError('method_not_allowed', message, { headers: { Allow: allow } }),
        c,
      );
    },
  }),
);

app.route('/v1', pets);
app.route('/', health);

// Returned, not thrown: methodNotAllowed looks at the 404 that comes back.
app.notFound((c) => errorResponse(new ApiError('not_found', 'There is nothing at this path.'), c));
app.onError(errorResponse);
