/** Responses. The bodies of operations are JSON already: SQLite writes it, see the queries. */
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

/**
 * Responds with a body of JSON, or without one. Every response of the worker is made here, from one object of
 * headers: `c.header` takes twice as long, for it sets them one by one and then copies them.
 */
export function respond(c: Context<AppEnv>, status: number, json?: string): Response {
  const headers = c.get('headers');
  if (json !== undefined) headers['Content-Type'] = 'application/json';
  return new Response(json, { status, headers });
}

/** A new row: its id in decimal, and its JSON. */
export type Created = { id: string; json: string };

/** Responds 201 to a POST to a collection, with the address of what was created in it. */
export function created(c: Context<AppEnv>, { id, json: body }: Created): Response {
  c.get('headers').Location = `${urlOf(c)}/${id}`;
  return respond(c, 201, body);
}
