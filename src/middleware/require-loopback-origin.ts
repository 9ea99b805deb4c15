/** Rejects pages of other hosts, in the local environment. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { invalidRequest } from '../http/problems.ts';

/** The loopback host: its names (RFC 6761, section 6.3) and addresses (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const LOOPBACK_HOST = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * In the local environment, a page that sends a request must be on the loopback host: the README shows the API key of every local
 * store, so otherwise any website could use the store.
 */
export const requireLoopbackOrigin = createMiddleware<AppEnv>(
  async function requireLoopbackOrigin(c, next) {
    const origin = c.req.header('Origin');
    if (c.env.ENVIRONMENT === 'local' && origin !== undefined && !isLoopback(origin)) {
      throw invalidRequest([
        'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment',
      ]);
    }
    await next();
  },
);

function isLoopback(origin: string): boolean {
  const url = URL.parse(origin);
  // Rejects text that no browser sends as an origin, and `null`, which a sandboxed page sends.
  if (url?.origin !== origin) return false;
  return /^https?:$/.test(url.protocol) && LOOPBACK_HOST.test(url.hostname);
}
