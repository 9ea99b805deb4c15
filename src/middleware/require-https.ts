import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { ApiError } from '../errors.ts';

/** Not a redirect, which would hide from the key's owner that it was sent unencrypted. */
export const requireHttps = createMiddleware<AppEnv>(async function requireHttps(c, next) {
  if (c.env.ENVIRONMENT !== 'local' && !c.req.url.startsWith('https:')) throw httpsRequired();
  await next();
});

export function httpsRequired(): ApiError {
  return new ApiError(
    'https_required',
    'Send requests over https. Replace any API key that was sent over http: others may have read it.',
  );
}
