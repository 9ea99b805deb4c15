/** The URLs in the headers of responses. */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';

/** The path of every operation begins with it, except the alias `/health`. */
export const VERSION_PATH = '/v1';

/** The parts of any context: https://github.com/honojs/hono/issues/3854 */
type RequestContext = Pick<Context<AppEnv>, 'env' | 'req'>;

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl({ env, req }: RequestContext): string {
  // Not `new URL`, which throws for a malformed `Host`.
  return env.BASE_URL ?? req.url.split('/', 3).join('/') + VERSION_PATH;
}
