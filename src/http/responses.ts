import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { AppEnv } from '../env.ts';

/** The base address, ending in `/v1`: `BASE_URL`, or locally the origin of the request. */
export function baseUrl(c: Context<AppEnv>): string {
  const { BASE_URL } = c.env;
  if (BASE_URL !== undefined) return BASE_URL;
  // Split as text: the URL parser would take longer than the rest of building a header.
  const [protocol, , host] = c.req.url.split('/', 3);
  return `${protocol}//${host}/v1`;
}

/** The URL of the request's path below the base address, without the query. */
export function requestUrl(c: Context<AppEnv>): string {
  return baseUrl(c) + c.req.path.slice('/v1'.length);
}

/**
 * Responds with JSON that SQLite wrote. `c.json` takes a value: parsing the text for it would round integers beyond
 * 2^53.
 */
export function sendJson(
  c: Context<AppEnv>,
  json: string,
  status: ContentfulStatusCode = 200,
): Response {
  return c.body(json, status, { 'Content-Type': 'application/json' });
}

/** A new row: its id in decimal, and its JSON. */
export type NewRow = { id: string; json: string };

/** Responds 201 to a POST to a collection, with the URL of the new row in `Location`. */
export function sendCreated(c: Context<AppEnv>, { id, json }: NewRow): Response {
  c.header('Location', `${requestUrl(c)}/${id}`);
  return sendJson(c, json, 201);
}
