/**
 * The animal store. A request runs straight down: the middleware in this order, then the operation's
 * own (authenticate, validate, handle), then its query. Whatever is thrown becomes an Error body here.
 */
import { Hono } from 'hono';
import { cors } from 'hono/cors';
import { methodNotAllowed } from 'hono/method-not-allowed';
import type { AppEnv } from './env.ts';
import { ApiError, errorResponse } from './errors.ts';
import { health } from './health.ts';
import { accessLog } from './middleware/access-log.ts';
import { requestId } from './middleware/request-id.ts';
import { securityHeaders } from './middleware/security-headers.ts';
import { pets } from './pets/routes.ts';

export const app = new Hono<AppEnv>();

app.use(requestId);
app.use(accessLog);
app.use(securityHeaders);
app.use(
  cors({
    // Any origin: the service knows no cookies, so a foreign page can do nothing without a key.
    origin: '*',
    allowMethods: ['GET', 'HEAD', 'POST'],
    allowHeaders: ['Authorization', 'Content-Type', 'Idempotency-Key', 'X-D1-Bookmark'],
    exposeHeaders: [
      'Link',
      'Location',
      'Allow',
      'Deprecation',
      'Sunset',
      'Retry-After',
      'WWW-Authenticate',
      'Idempotency-Replayed',
      'X-D1-Bookmark',
      'X-Request-Id',
    ],
    // Browsers keep a preflight two hours at most; without this, nearly each call costs one.
    maxAge: 7200,
  }),
);
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
