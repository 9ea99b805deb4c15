import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../env.ts';
import { ApiError } from '../errors.ts';

/**
 * A URL on the loopback host (RFC 6761, section 6.3; RFC 1122, section 3.2.1.3). Origins and the URLs of requests are
 * normalized.
 */
const LOOPBACK =
  /^https?:\/\/(?:(?:[^./:@]+\.)*localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?(?:\/|$)/;

/**
 * Rejects requests over `http:`. There is no redirect: a key sent in clear text has leaked, and a redirect would hide that
 * from its owner.
 *
 * In the local environment http is allowed, but the API key is public. So requests must be sent to the loopback host, and
 * a page that sends them must be on it: otherwise any website could use the local store, by CORS or by DNS rebinding.
 */
export const requireSafeTransport = createMiddleware<AppEnv>(
  function requireSafeTransport(c, next) {
    const { url } = c.req;
    if (c.env.ENVIRONMENT === 'local') {
      const origin = c.req.header('Origin');
      if (origin !== undefined && !LOOPBACK.test(origin)) throw notLoopback('Origin');
      if (!LOOPBACK.test(url)) throw notLoopback('Host');
    } else if (!url.startsWith('https:')) {
      throw httpsRequired();
    }
    return next();
  },
);

export function httpsRequired(): ApiError {
  return new ApiError(
    'https_required',
    'Send requests over https. Replace any API key that was sent over http: others may have read it.',
  );
}

function notLoopback(header: 'Origin' | 'Host'): ApiError {
  const example = header === 'Origin' ? 'http://localhost:5173' : 'localhost:8787';
  return new ApiError(
    'invalid_request',
    `${header}: must be on the loopback host, such as ${example}, in the local environment`,
  );
}
