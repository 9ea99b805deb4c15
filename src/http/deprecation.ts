/** The deprecation of getPet: https://www.rfc-editor.org/rfc/rfc9745 and rfc8594. */
import { createMiddleware } from 'hono/factory';
import type { AppEnv } from '../context.ts';
import { baseUrl } from './responses.ts';

/** Value of the `Deprecation` header, in seconds since 1970: 20 November 2026, the release of version 1.0.0. */
export const DEPRECATION = '@1795132800';
/** Value of the `Sunset` header: the announced removal. The operation works until its code is removed. */
export const SUNSET = 'Thu, 05 Dec 2030 00:00:00 GMT';

/** Value of the `Link` header: the successor, listPets (RFC 5829), and the documentation. `base` ends in `/v1`. */
export function deprecationLinks(base: string): string {
  const origin = base.slice(0, -'/v1'.length);
  return `<${base}/pets>; rel="successor-version", <${origin}/docs>; rel="deprecation"`;
}

/** Marks every response of getPet, errors too, so it comes before `operation`. */
export const deprecatedGetPet = createMiddleware<AppEnv>(async (c, next) => {
  c.get('log').deprecated = true;
  const links = deprecationLinks(baseUrl(c));
  await next();
  const { headers } = c.res;
  headers.set('Deprecation', DEPRECATION);
  headers.set('Sunset', SUNSET);
  headers.set('Link', links);
});
