/** The URLs in the headers of responses. */
import type { Context } from 'hono';
import type { AppEnv } from '../context.ts';
import { invalidRequest } from './problems.ts';

/** The path of the API's version: the path of every operation begins with it, except the alias `/health`. */
export const VERSION_PATH = '/v1';

/**
 * Hono's contexts of middleware and of handlers are not assignable to each other, because of `set`, but these parts are:
 * https://github.com/honojs/hono/issues/3854
 */
type RequestContext = Pick<Context<AppEnv>, 'env' | 'req'>;

/** @throws ApiError 400 when there is no `BASE_URL`, and the `Host` of the request is malformed. */
export function requireHost({ env, req }: RequestContext): void {
  if (!env.BASE_URL && !URL.canParse(req.url))
    throw invalidRequest(['Host: must be a host name or an address, with or without a port']);
}

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl({ env, req }: RequestContext): string {
  return env.BASE_URL ?? `${new URL(req.url).origin}${VERSION_PATH}`;
}

/** The URL of the collection that the request lists, or adds to. A `%` in Hono's path begins an escape that it has kept. */
export function collectionUrl(c: RequestContext): string {
  const path = encodeURI(c.req.path).replaceAll('%25', '%');
  return baseUrl(c) + path.slice(VERSION_PATH.length);
}
