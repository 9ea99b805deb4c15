/** The URLs in the headers of responses. */
import type { Context, Next } from 'hono';
import type { AppEnv } from '../context.ts';
import { invalidRequest } from './problems.ts';

/** The path of every operation begins with it, except the alias `/health`. */
export const VERSION_PATH = '/v1';

/** The parts of any context: https://github.com/honojs/hono/issues/3854 */
type RequestContext = Pick<Context<AppEnv>, 'env' | 'req'>;

/** @throws ApiError 400 when there is no `BASE_URL`, and the `Host` of the request is malformed. */
export async function requireHost({ env, req }: RequestContext, next: Next): Promise<void> {
  if (!env.BASE_URL && !URL.canParse(req.url))
    throw invalidRequest(['Host: must be a host name or an address, with or without a port']);
  await next();
}

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl({ env, req }: RequestContext): string {
  return env.BASE_URL ?? `${new URL(req.url).origin}${VERSION_PATH}`;
}
