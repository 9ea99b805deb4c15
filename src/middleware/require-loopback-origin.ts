import { createMiddleware } from 'hono/factory';
import { type AppEnv, logOf } from '../context.ts';
import { invalidRequest } from '../http/problems.ts';

/** Its names (RFC 6761, section 6.3) and addresses (RFC 1122, section 3.2.1.3; RFC 4291, 2.5.3). */
const LOOPBACK_ORIGIN = /^https?:\/\/(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/;

const PROBLEM =
  'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment';

/** Rejects pages of other hosts: the local API key is public, so any website could use it. */
export const requireLoopbackOrigin = createMiddleware<AppEnv>(
  async function requireLoopbackOrigin(c, next) {
    const origin = c.req.header('Origin');
    if (c.env.ENVIRONMENT === 'local' && origin !== undefined && !isLoopback(origin)) {
      // The browser shows only a CORS error.
      logOf(c).cause = PROBLEM;
      throw invalidRequest([PROBLEM]);
    }
    await next();
  },
);

function isLoopback(origin: string): boolean {
  return URL.parse(origin)?.origin === origin && LOOPBACK_ORIGIN.test(origin);
}
