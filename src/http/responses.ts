/** Successful responses, and the URLs in their headers. */
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../context.ts';
import type { CreatedRow } from '../d1/idempotency.ts';

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl(c: Context<AppEnv>): string {
  return c.env.BASE_URL ?? `${new URL(c.req.url).origin}/v1`;
}

/** The URL of the request's path below the base address, without the query. */
export function requestUrl(c: Context<AppEnv>): string {
  return baseUrl(c) + c.req.path.slice('/v1'.length);
}

/**
 * Responds with a body that SQLite wrote. `c.json` takes a value: parsing the text for it would round integers beyond
 * 2^53.
 */
export function sendBody(
  c: Context<AppEnv>,
  body: string,
  status: ContentfulStatusCode = 200,
): Response {
  return c.body(body, status, { 'Content-Type': 'application/json' });
}

/** Responds 201 to a POST to a collection, with the URL of the new row in `Location`. */
export function sendCreated(c: Context<AppEnv>, { id, body }: CreatedRow): Response {
  c.header('Location', `${requestUrl(c)}/${id}`);
  return sendBody(c, body, 201);
}
