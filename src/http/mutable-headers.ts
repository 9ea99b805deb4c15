import type { Context } from 'hono';

/** Copies the response only if its headers are immutable: `c.header` always would. */
export function mutableHeaders(c: Context): Headers {
  try {
    // Throws if they are immutable.
    c.res.headers.delete('X-Request-Id');
  } catch {
    c.res = new Response(c.res.body, c.res);
  }
  return c.res.headers;
}
