import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();
/** A front end under development: the local environment accepts pages of the loopback host only. */
const PAGE = 'http://localhost:5173';

test.each([...['/v1/pets', '/v1/pets/1', '/health', '/v1/nothing']])(
  'a preflight of %s needs no key, and is valid for two hours',
  async (path) => {
    const { status, headers, text } = await store.fetch(path, {
      method: 'OPTIONS',
      headers: {
        authorization: null,
        origin: PAGE,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect([status, text]).toEqual([204, '']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'GET,HEAD,POST,PATCH,DELETE',
      'access-control-allow-headers': 'Authorization,Content-Type,Idempotency-Key,X-D1-Bookmark',
      'access-control-max-age': '7200',
    });
    expect(headers.has('allow')).toBe(false);
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  },
);

test('a page of any origin may read the headers, also those of an error', async () => {
  const { headers } = await store.fetch('/v1/pets', {
    headers: { origin: PAGE, authorization: null },
  });
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-expose-headers')?.split(',').sort()).toEqual([
    ...['Accept', 'Accept-Encoding', 'Accept-Patch', 'Allow', 'Deprecation'],
    ...['Idempotency-Replayed', 'Link', 'Location', 'Retry-After', 'Sunset'],
    ...['WWW-Authenticate', 'X-D1-Bookmark', 'X-Request-Id'],
  ]);
});
