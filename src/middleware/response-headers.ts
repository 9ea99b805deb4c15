/** The headers of every response, and those that a deprecated operation adds. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { mutableHeaders } from '../http/mutable-headers.ts';
import { baseUrl, VERSION_PATH } from '../http/urls.ts';
import type { Deprecation } from '../operation/definition.ts';

export const responseHeaders = createMiddleware<AppEnv>(async function responseHeaders(c, next) {
  await next();
  const headers = mutableHeaders(c);
  headers.set('X-Request-Id', c.get('requestId'));
  headers.set('X-Content-Type-Options', 'nosniff');
  headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'");
  headers.set('Strict-Transport-Security', 'max-age=31536000');
  // `private`, because some shared caches are set to ignore `no-store`.
  headers.set('Cache-Control', 'private, no-store');
  const deprecation = c.get('definition')?.deprecation;
  if (!deprecation) return;
  // Not `set`: a page of a list has a `Link` already.
  for (const [name, value] of Object.entries(deprecationHeaders(deprecation, baseUrl(c))))
    headers.append(name, value);
});

/** `base` ends in `/v1`. */
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
