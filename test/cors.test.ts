import { expect, test } from 'vitest';
import { startStore } from './store.ts';

const store = startStore();

function list(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .sort();
}

test.each(['/v1/pets', '/v1/pets/1'])(
  'a preflight for %s is allowed from any origin, and kept',
  async (path) => {
    const { status, headers, text } = await store.fetch(path, {
      method: 'OPTIONS',
      headers: {
        authorization: null,
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      },
    });
    expect([status, text]).toEqual([204, '']);
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(list(headers.get('access-control-allow-methods'))).toEqual(['GET', 'HEAD', 'POST']);
    expect(list(headers.get('access-control-allow-headers'))).toEqual([
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'X-D1-Bookmark',
    ]);
    expect(headers.get('access-control-max-age')).toBe('7200');
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  },
);

test.each([
  ['an answer', '/v1/pets', {}],
  ['a 400', '/v1/pets?limit=0', {}],
  ['a 401', '/v1/pets', { authorization: null }],
  ['a 404', '/nothing', {}],
])('%s can be read from any origin, with its headers', async (_, path, headers) => {
  const reply = await store.fetch(path, {
    headers: { origin: 'https://shop.example', ...headers },
  });
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(list(reply.headers.get('access-control-expose-headers'))).toEqual([
    'Allow',
    'Deprecation',
    'Idempotency-Replayed',
    'Link',
    'Location',
    'Retry-After',
    'Sunset',
    'WWW-Authenticate',
    'X-D1-Bookmark',
    'X-Request-Id',
  ]);
});
