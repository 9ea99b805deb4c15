/** The key of the local environment is public, so only pages of the loopback host may use it. */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);
const staging = startStore({ env: 'staging' });

test.each(['/v1/pets', '/v1/nothing'])(
  'a preflight of %s needs no key, and is valid for two hours',
  async (path) => {
    const { status, headers, text } = await store.fetch(path, {
      method: 'OPTIONS',
      headers: { authorization: null, origin: 'http://localhost:5173' },
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
  const { status, headers } = await staging.fetch('/v1/pets', {
    headers: { origin: 'https://shop.example', authorization: null },
  });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  expect(headers.get('access-control-expose-headers')?.split(',').sort()).toEqual([
    ...['Accept', 'Accept-Encoding', 'Accept-Patch', 'Allow', 'Deprecation'],
    ...['Idempotency-Replayed', 'Link', 'Location', 'Retry-After', 'Sunset'],
    ...['WWW-Authenticate', 'X-D1-Bookmark', 'X-Request-Id'],
  ]);
});

test.each([
  ...['http://localhost', 'http://localhost:5173', 'https://shop.localhost:8443'],
  ...['http://127.0.0.1:3000', 'http://127.8.9.10', 'http://[::1]:8080'],
])('a page at %s may use the local store', async (origin) => {
  const { status, headers } = await store.fetch('/v1/pets', { headers: { origin } });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
});

test.each([
  ...['https://evil.example', 'http://localhost.evil.example', 'http://evillocalhost'],
  ...['http://127.0.0.1.evil.example', 'http://128.0.0.1', 'http://[::2]'],
  ...['ftp://localhost', 'null'],
])('a page at %s may not use the local store', async (origin) => {
  const { headers, body } = await send('OPTIONS', '/v1/pets', undefined, { origin });
  expect(errorOf(body)).toBe(
    '400 invalid_request: Origin: must be on the loopback host, such as http://localhost:5173, in the local environment',
  );
  expect(headers.has('access-control-allow-origin')).toBe(false);
});
