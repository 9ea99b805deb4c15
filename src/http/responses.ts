/** The responses of operations. Their bodies are JSON already: SQLite writes it, see the queries. */
import type { Context } from 'hono';
import type { AppEnv } from '../env.ts';

/** The base address, ending in `/v1`: the configured one, or locally the one that the client used. */
export function baseUrl(c: Context<AppEnv>): string {
  return c.env.BASE_URL ?? new URL('/v1', c.req.url).href;
}

/** The address of this request's path below the base address, without the query. */
export function urlOf(c: Context<AppEnv>): string {
  return baseUrl(c) + c.req.path.slice('/v1'.length);
}

/** Responds with a body that is JSON already. */
export function json(c: Context<AppEnv>, body: string, status: 200 | 201 = 200): Response {
  return c.body(body, status, { 'Content-Type': 'application/json' });
}

/** A new row: its id in decimal, and its JSON. */
export type Created = { id: string; json: string };

/** Responds 201 to a POST to a collection, with the address of what was created in it. */
export function created(c: Context<AppEnv>, { id, json: body }: Created): Response {
  c.header('Location', `${urlOf(c)}/${id}`);
  return json(c, body, 201);
}
