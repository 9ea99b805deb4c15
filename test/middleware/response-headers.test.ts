import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function expectCommonHeaders(headers: Headers): void {
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-request-id': expect.stringMatching(UUID),
    'x-content-type-options': 'nosniff',
    'cache-control': expect.stringMatching(/^(private, )?no-store$/),
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'strict-transport-security': 'max-age=31536000',
    'access-control-allow-origin': '*',
    'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
  });
}

test.each([
  ['HEAD', '/v1/pets', 200],
  ['POST', '/v1/pets', 415],
  ['PUT', '/v1/pets', 405],
  ['OPTIONS', '/v1/nothing', 204],
  ['GET', '/v1/nothing', 404],
  ['GET', '/health', 200],
])('%s %s is a %i with the headers of every response', async (method, path, status) => {
  const first = await store.fetch(path, { method, headers: { 'x-request-id': 'of-the-client' } });
  const second = await store.fetch(path, { method });
  expect(first.status).toBe(status);
  expectCommonHeaders(first.headers);
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
});

test.each(['/docs', '/v1/openapi.json'])(
  'the static file %s has HSTS, and can only be read',
  async (path) => {
    const { headers } = await fetch(store.url() + path, { redirect: 'manual' });
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
    const { status } = await fetch(store.url() + path, { method: 'POST' });
    expect(status).toBe(405);
  },
);
