import type { AppContext } from '../context.ts';

/** Every path begins with it, except the alias `/health`. */
export const VERSION_PATH = '/v1';

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl({ env, req }: Pick<AppContext, 'env'> & { req: { url: string } }): string {
  // Not `new URL`, which throws for a malformed `Host`.
  return env.BASE_URL ?? req.url.split('/', 3).join('/') + VERSION_PATH;
}
