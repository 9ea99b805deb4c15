/** The headers of every response, and those that a deprecated operation adds. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import type { Deprecation } from '../definition.ts';
import { baseUrl, VERSION_PATH } from '../http/responses.ts';

/** Sets headers on the finished response, errors too. Why not by Hono's `secureHeaders` and `requestId`: docs/decisions.md. */
export const responseHeaders = createMiddleware<AppEnv>(async function responseHeaders(c, next) {
  const requestId = crypto.randomUUID();
  c.set('requestId', requestId);
  await next();
  const { headers } = c.res;
  headers.set('X-Request-Id', requestId);
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
  headers.set('Deprecation', deprecation.since);
  headers.set('Sunset', deprecation.sunset);
  // Not `set`: a page of a list has a `Link` already.
  headers.append('Link', deprecationLinks(deprecation, baseUrl(c)));
});

/** Value of the `Link` header: the successor (RFC 5829), and the docs page of public/. `base` ends in `/v1`. */
export function deprecationLinks({ successor }: Deprecation, base: string): string {
  const origin = base.slice(0, -VERSION_PATH.length);
  return `<${base}${successor}>; rel="successor-version", <${origin}/docs>; rel="deprecation"`;
}
