/** The deprecation of getPet: https://www.rfc-editor.org/rfc/rfc9745 and rfc8594. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { baseUrl } from './responses.ts';

/** The release of version 1.0.0, which deprecates getPet. */
const DEPRECATION_DATE = Date.UTC(2026, 10, 20);
/** The announced removal. The operation works until its code is removed. */
export const SUNSET_DATE = new Date(Date.UTC(2030, 11, 5));

/** Value of the `Deprecation` header. */
export const DEPRECATION = `@${DEPRECATION_DATE / 1000}`;
/** Value of the `Sunset` header. */
export const SUNSET = SUNSET_DATE.toUTCString();

/** Value of the `Link` header: the successor (RFC 5829) and the documentation. */
export function deprecationLinks(base: string): string {
  const origin = base.slice(0, -'/v1'.length);
  return `<${base}/pets>; rel="successor-version", <${origin}/docs>; rel="deprecation"`;
}

/** Marks every response of a deprecated operation, errors too. */
export const deprecated = createMiddleware<AppEnv>(function deprecated(c, next) {
  c.get('log').deprecated = true;
  c.header('Deprecation', DEPRECATION);
  c.header('Sunset', SUNSET);
  c.header('Link', deprecationLinks(baseUrl(c)));
  return next();
});
