/** Rejects pages of other hosts, in the local environment. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { invalidRequest } from '../http/problems.ts';

/**
 * An origin on the loopback host: its names (RFC 6761, section 6.3), which may end in a dot, and its addresses (RFC 1122, section
 * 3.2.1.3; RFC 4291, section 2.5.3).
 */
const LOOPBACK_ORIGIN = /^https?:\/\/(?:(?:.+\.)?localhost\.?|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/;

const PROBLEM =
  'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment';

/**
 * In the local environment, a page that sends a request must be on the loopback host: the README shows the API key of every local
 * store, so otherwise any website could use the store.
 */
export const requireLoopbackOrigin = createMiddleware<AppEnv>(
  async function requireLoopbackOrigin(c, next) {
    const origin = c.req.header('Origin');
    if (c.env.ENVIRONMENT === 'local' && origin !== undefined && !isLoopback(origin)) {
      // The page cannot read the response, and the browser shows only a CORS error.
      c.get('log').cause = PROBLEM;
      throw invalidRequest([PROBLEM]);
    }
    await next();
  },
);

function isLoopback(origin: string): boolean {
  // Otherwise it is text that no browser sends as an origin.
  return URL.parse(origin)?.origin === origin && LOOPBACK_ORIGIN.test(origin);
}
