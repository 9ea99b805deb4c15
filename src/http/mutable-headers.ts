import type { Context } from 'hono';

/**
 * The headers of the finished response, which becomes a copy if they are immutable, as those of
 * `Response.redirect` are. `c.header` would always copy.
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
