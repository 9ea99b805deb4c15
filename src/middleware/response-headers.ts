/** The headers of every response, and those that a deprecated operation adds. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import type { Deprecation } from '../definition.ts';
import { baseUrl, VERSION_PATH } from '../http/urls.ts';

/** Sets headers on the finished response, errors too. Why not by Hono's `secureHeaders` and `requestId`: docs/decisions.md. */
export const responseHeaders = createMiddleware<AppEnv>(async function responseHeaders(c, next) {
  await next();
  const { headers } = c.res;
  headers.set('X-Request-Id', crypto.randomUUID());
  // Browsers do not sniff the media type, load no resources, do not frame the response, and use only HTTPS for this host
  // (RFC 6797; no effect on http://localhost).
  headers.set('X-Content-Type-Options', 'nosniff');
  headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  headers.set('Strict-Transport-Security', 'max-age=31536000');
  const definition = c.get('definition');
  // The response to a request with an API key may belong to one client. Some shared caches are set to ignore `no-store`: `private` stops them.
  headers.set('Cache-Control', definition?.scope ? 'private, no-store' : 'no-store');
  const deprecation = definition?.deprecation;
  if (!deprecation) return;
  // Not `set`: a page of a list has a `Link` already.
  for (const [name, value] of Object.entries(deprecationHeaders(deprecation, baseUrl(c))))
    headers.append(name, value);
});

/** The headers of a deprecated operation. `base` ends in `/v1`. */
export function deprecationHeaders({ since, sunset, successor }: Deprecation, base: string) {
  const origin = base.slice(0, -VERSION_PATH.length);
  return {
    // RFC 9745: the seconds since 1970.
    Deprecation: `@${Date.parse(since) / 1000}`,
    // RFC 8594.
    Sunset: new Date(sunset).toUTCString(),
    // The successor (RFC 5829), and the docs page of public/.
    Link: `<${base}${successor}>; rel="successor-version", <${origin}/docs>; rel="deprecation"`,
  };
}
