import type { Context } from 'hono';

/** Of the response, copied only if they are immutable: `c.header` would always copy. */
export function mutableHeaders(c: Context): Headers {
  try {
    // Throws if they are immutable.
    c.res.headers.delete('X-Request-Id');
  } catch {
    c.res = new Response(c.res.body, c.res);
  }
  return c.res.headers;
}
