import { Hono } from 'hono';
import { beforeEach, expect, test, vi } from 'vitest';
import { app } from '../../src/app.ts';
import type { AppEnv } from '../../src/env.ts';
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
  ['GET', '/v1/pets', 200],
  ['HEAD', '/v1/pets', 200],
  ['GET', '/v1/pets/x', 400],
  ['POST', '/v1/pets', 415],
  ['PUT', '/v1/pets', 405],
  ['OPTIONS', '/v1/pets', 204],
  ['OPTIONS', '/v1/nothing', 204],
  ['GET', '/v1/nothing', 404],
  ['GET', '/health', 200],
])('%s %s has the headers of every response', async (method, path, status) => {
  const headers = { 'x-request-id': 'of-the-client' };
  const first = await store.fetch(path, { method, headers });
  const second = await store.fetch(path, { method, headers });
  expect(first.status).toBe(status);
  expectCommonHeaders(first.headers);
  expect(second.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
});

test.each(['/docs', '/v1/openapi.json', '/'])('%s has Strict-Transport-Security', async (path) => {
  const { headers } = await fetch(store.url() + path, { redirect: 'manual' });
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
});

beforeEach(() => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  return () => log.mockRestore();
});

test('a new route has them without further code', async () => {
  const withRoute = new Hono<AppEnv>().route('/', app);
  withRoute.get('/v1/hello', (c) => c.json({ ok: true }));
  const response = await withRoute.request('/v1/hello', {}, { ENVIRONMENT: 'local' });
  expect(await response.json()).toEqual({ ok: true });
  expectCommonHeaders(response.headers);
});

test('a response that is made without the context has the headers of security', async () => {
  const withRoute = new Hono<AppEnv>().route('/', app);
  withRoute.get('/v1/plain', () => new Response('plain'));
  const { headers } = await withRoute.request('/v1/plain', {}, { ENVIRONMENT: 'local' });
  expect(headers.get('x-request-id')).toMatch(UUID);
  expect(headers.get('content-security-policy')).toBe("default-src 'none'; frame-ancestors 'none'");
});
