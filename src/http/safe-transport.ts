/** Rejects plain http. In the local environment, rejects pages of other hosts instead. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { ApiError } from '../errors.ts';

/** The loopback host: its names (RFC 6761, section 6.3) and addresses (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3). */
const LOOPBACK_HOST = /^(?:localhost|.+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Rejects requests over `http:`. There is no redirect: a key sent in clear text has leaked, and a redirect would hide that
 * from its owner.
 *
 * In the local environment http is allowed, but the README shows the API key of every local store. So a page that sends a
 * request must be on the loopback host: otherwise any website could use the store.
 */
export const requireSafeTransport = createMiddleware<AppEnv>(async (c, next) => {
  if (c.env.ENVIRONMENT === 'local') {
    const origin = c.req.header('Origin');
    if (origin !== undefined && !isLoopback(origin)) throw foreignOrigin();
  } else if (!c.req.url.startsWith('https:')) {
    throw httpsRequired();
  }
  await next();
});

/** Browsers send an origin normalized, so other text is not from a page. */
function isLoopback(origin: string): boolean {
  const url = URL.parse(origin);
  if (url?.origin !== origin) return false;
  return /^https?:$/.test(url.protocol) && LOOPBACK_HOST.test(url.hostname);
}

export function httpsRequired(): ApiError {
  return new ApiError(
    'https_required',
    'Send requests over https. Replace any API key that was sent over http: others may have read it.',
  );
}

function foreignOrigin(): ApiError {
  return new ApiError(
    'invalid_request',
    'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment',
  );
}
