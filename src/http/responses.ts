/** Successful responses, and the URLs in their headers. */
import type { Context, TypedResponse } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv, AuthenticatedEnv } from '../context.ts';
import type { JsonText } from '../d1/sql.ts';
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

/** The URL of the collection that the request lists, or adds to. */
export function collectionUrl(c: RequestContext): string {
  return baseUrl(c) + c.req.path.slice(VERSION_PATH.length);
}

/** The type of a value's JSON: an int64 is a number there, exact only up to 2^53. */
export type JsonOf<Value> = Value extends bigint
  ? number
  : Value extends object
    ? { [Name in keyof Value]: JsonOf<Value[Name]> }
    : Value;

/**
 * Responds with JSON that SQLite wrote, by default with the status 200. Not `c.json`, which takes a value: JSON.parse would round
 * integers beyond 2^53. The type of the response is that of the JSON, for `AppType`.
 */
export function sendJson<Value, Status extends ContentfulStatusCode = 200>(
  c: Context<AuthenticatedEnv>,
  json: JsonText<Value>,
  status?: Status,
  headers?: Record<string, string>,
): Response & TypedResponse<JsonOf<Value>, Status, 'json'>;
export function sendJson(
  c: Context<AuthenticatedEnv>,
  json: string,
  status: ContentfulStatusCode = 200,
  headers: Record<string, string> = {},
): Response {
  return c.body(json, status, { 'Content-Type': 'application/json', ...headers });
}

/** Responds 201 to a POST to a collection, with the URL of the new row in `Location`. `id` is its id in decimal. */
export function sendCreated<Item>(
  c: Context<AuthenticatedEnv>,
  { id, json }: { id: string; json: JsonText<Item> },
) {
  return sendJson(c, json, 201, { Location: `${collectionUrl(c)}/${id}` });
}
