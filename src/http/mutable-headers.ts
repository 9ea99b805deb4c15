import type { Context } from 'hono';

/**
 * The headers of the finished response. Those of `Response.redirect`, and of the response of a
 * `fetch`, are immutable: then the response becomes a copy. Not `c.header`, which always copies.
 */
export function mutableHeaders(c: Context): Headers {
  try {
    // A probe: it throws if the headers are immutable.
    c.res.headers.delete('X-Request-Id');
  } catch {
    c.res = new Response(c.res.body, c.res);
  }
  return c.res.headers;
}
