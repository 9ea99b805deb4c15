import { Hono } from 'hono';
import { expect, test, vi } from 'vitest';
import { app } from '../../src/app.ts';
import type { AppEnv } from '../../src/context.ts';
import { startStore } from '../store.ts';

const store = startStore();

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const ALL = {
  'x-request-id': expect.stringMatching(UUID),
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'strict-transport-security': 'max-age=31536000',
  'access-control-allow-origin': '*',
  'access-control-expose-headers': expect.stringContaining('X-Request-Id'),
};

test.each([
  ['GET', '/v1/pets', 200, 'private, no-store'],
  ['POST', '/v1/pets', 415, 'private, no-store'],
  ['PUT', '/v1/pets', 405, 'no-store'],
  ['OPTIONS', '/v1/pets', 204, 'no-store'],
  ['GET', '/v1/nothing', 404, 'no-store'],
  ['GET', '/health', 200, 'no-store'],
])('%s %s has the headers of every response', async (method, path, status, cacheControl) => {
  const headers = { 'x-request-id': '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11' };
  const reply = await store.fetch(path, { method, headers });
  expect(reply.status).toBe(status);
  const all = { ...ALL, 'cache-control': cacheControl };
  expect(Object.fromEntries(reply.headers)).toMatchObject(all);
  expect(reply.headers.get('x-request-id')).not.toBe(headers['x-request-id']);
});

test.each(['/docs', '/v1/openapi.json', '/'])('%s has Strict-Transport-Security', async (path) => {
  const { headers } = await fetch(store.url() + path, { redirect: 'manual' });
  expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
});

test('a route that returns the response of a fetch has the headers of every response', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const fetchData = () => fetch('data:,{"ok":true}');
  const withRoute = new Hono<AppEnv>().route('/', app).get('/v1/hello', fetchData);
  const response = await withRoute.request('/v1/hello', {}, { ENVIRONMENT: 'local' });
  log.mockRestore();
  expect(await response.json()).toEqual({ ok: true });
  expect(Object.fromEntries(response.headers)).toMatchObject(ALL);
});
