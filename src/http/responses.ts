/** Successful responses, and the URLs in their headers. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv, OperationEnv } from '../context.ts';
import type { CreatedRow } from '../d1/idempotency.ts';

/** Hono's contexts of middleware and of handlers are not assignable to each other, but these parts are. */
type RequestContext = Pick<Context<AppEnv>, 'env' | 'req'>;

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl({ env, req }: RequestContext): string {
  return env.BASE_URL ?? `${new URL(req.url).origin}/v1`;
}

/**
 * The base address, and then the path of the request after `/v1`. Only for a path without parameters: in `c.req.path`, each `%`
 * is `%25` (`encodedPath`).
 */
export function requestUrl(c: RequestContext): string {
  return baseUrl(c) + c.req.path.slice('/v1'.length);
}

/**
 * Responds with a body that SQLite wrote. Not `c.json`, which takes a value: JSON.parse would round integers beyond 2^53.
 */
export function sendBody(
  c: Context<OperationEnv>,
  body: string,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return c.body(body, status, { 'Content-Type': 'application/json', ...headers });
}

/** Responds 201 to a POST to a collection, with the URL of the new row in `Location`. */
export function sendCreated(c: Context<OperationEnv>, { id, body }: CreatedRow): Response {
  return sendBody(c, body, 201, { Location: `${requestUrl(c)}/${id}` });
}
