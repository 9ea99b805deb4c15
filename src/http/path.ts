/**
 * The path of a request for Hono's router, with `%` encoded as `%25`: `/v1/pets/%31` becomes `/v1/pets/%2531`. Hono later
 * decodes path parameters once, which undoes this: a handler gets `%31`, as sent. A segment with an escape never matches a fixed
 * segment of a route: `/v1/%70ets` is a 404. Hono's default decodes each broken escape separately: 16 KB of them take 10 ms or
 * more before authentication.
 */
export function encodedPath({ url }: Request): string {
  const hostStart = url.indexOf('://') + '://'.length;
  const pathStart = url.indexOf('/', hostStart);
  const searchStart = url.indexOf('?', pathStart);
  const path = searchStart === -1 ? url.slice(pathStart) : url.slice(pathStart, searchStart);
  return path.replaceAll('%', '%25');
}
