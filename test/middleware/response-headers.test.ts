/** The headers of every response, and those for pages of other origins (CORS). */
import { Hono, type MiddlewareHandler } from 'hono';
import { requestId } from 'hono/request-id';
import { expect, test } from 'vitest';
import type { AppEnv, CreateEnv } from '../../src/context.ts';
import { sql } from '../../src/d1/sql.ts';
import { readIdempotencyKey } from '../../src/http/idempotency-key.ts';
import { openDatabase } from '../../src/http/open-database.ts';
import { crossOrigin } from '../../src/middleware/cross-origin.ts';
import { responseHeaders } from '../../src/middleware/response-headers.ts';
import { operations } from '../support/contract.ts';
import { expectError, startFaultyStore, startStore } from '../support/store.ts';
import { stubBindings } from '../support/stubs.ts';

const store = startStore();
const staging = startFaultyStore('staging');

test.each([
  ['GET', '/v1/pets', 200],
  ['OPTIONS', '/v1/pets', 204],
  ['PUT', '/v1/pets', 405],
  ['GET', '/v1/nothing', 404],
  ['GET', '/health', 200],
])('%s %s has the headers of every response', async (method, path, status) => {
  const sent = '0b0c2f0e-5a0e-4c57-9d4a-3f1d3c1f7a11';
  const reply = await store.fetch(path, { method, headers: { 'x-request-id': sent } });
  expect(reply.status).toBe(status);
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'strict-transport-security': 'max-age=31536000',
    'access-control-allow-origin': '*',
  });
  expect(reply.headers.get('x-request-id')).not.toBe(sent);
});

const corsHeaders = (headers: Headers) =>
  [...headers.keys()].flatMap((name) => name.split('access-control-')[1] ?? []);

test.each(['/v1/pets', '/v1/nothing'])(
  'a preflight of %s needs no key, and is valid for two hours',
  async (path) => {
    const headers = { origin: 'http://localhost:5173' };
    const reply = await store.fetch(path, { method: 'OPTIONS', key: null, headers });
    expect([reply.status, reply.text]).toEqual([204, '']);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-headers': 'Authorization,Content-Type,Idempotency-Key,X-D1-Bookmark',
      'access-control-max-age': '7200',
    });
    const methods = reply.headers.get('access-control-allow-methods')?.split(',');
    const used = operations.map(({ method }) => method);
    expect(new Set(methods)).toEqual(new Set(['HEAD', ...used]));
    const names = ['allow-headers', 'allow-methods', 'allow-origin', 'max-age'];
    expect(corsHeaders(reply.headers)).toEqual(names);
  },
);

test('a page of any origin may read the headers, also of an error', async () => {
  const init = { key: null, headers: { origin: 'https://shop.example' } };
  const { status, headers } = await staging.fetch('/v1/pets/1', init);
  expect([status, headers.get('access-control-allow-origin')]).toEqual([401, '*']);
  expect(corsHeaders(headers)).toEqual(['allow-origin', 'expose-headers']);
  expect(headers.get('access-control-expose-headers')?.split(',').sort()).toEqual([
    ...['Accept', 'Accept-Encoding', 'Accept-Patch', 'Allow', 'Deprecation'],
    ...['Idempotency-Replayed', 'Link', 'Location', 'Retry-After', 'Sunset'],
    ...['WWW-Authenticate', 'X-D1-Bookmark', 'X-Request-Id'],
  ]);
});

test('a page of a deprecated list keeps its link to the next page', async () => {
  const app = new Hono<AppEnv>();
  app.use(responseHeaders);
  app.get('/', (c) => {
    const deprecation = { since: '2026-11-20', sunset: '2030-12-05', successor: '/toys' };
    c.set('definition', { operationId: 'listPets', scope: 'read', deprecation });
    return c.text('', 200, { link: '<next>; rel="next"' });
  });
  const { headers } = await app.request('/', {}, stubBindings());
  expect(headers.get('link')).toMatch(/^<next>; rel="next", .+; rel="successor-version"/);
});

// Each middleware that sets headers copes by itself with a response that Hono has not made.
test.each<[string, MiddlewareHandler]>([
  ['access-control-allow-origin', crossOrigin],
  ['x-content-type-options', responseHeaders],
  ['x-d1-bookmark', openDatabase({ operationId: 'listPets', scope: 'read' })],
  ['idempotency-replayed', readIdempotencyKey],
])('a redirect, whose headers are immutable, has %s', async (name, middleware) => {
  const app = new Hono<CreateEnv>();
  app.use(requestId({ headerName: '' }));
  app.use(middleware);
  app.get('/', async (c) => {
    Object.assign(c.get('once') ?? {}, { isReplay: true });
    await c.get('db')?.run(sql`SELECT 1`);
    return Response.redirect('https://animal-store.example/v1/pets', 307);
  });
  const { status, headers } = await app.request('/', {}, stubBindings());
  expect([status, headers.get('location')]).toEqual([307, 'https://animal-store.example/v1/pets']);
  expect(headers.has(name)).toBe(true);
});

const NOT_LOOPBACK =
  'Origin: must be on the loopback host, such as http://localhost:5173, in the local environment';

// The key of the local environment is public, so only pages of the loopback host may use it.
test.each([
  ...['http://localhost', 'http://localhost:5173', 'https://shop.localhost:8443'],
  // RFC 6761: a host name may end in a dot.
  ...['http://localhost.:5173', 'http://shop.localhost.'],
  ...['http://127.0.0.1:3000', 'http://127.8.9.10', 'http://[::1]:8080'],
])('a page at %s may use the local store', async (origin) => {
  const { status, headers } = await store.fetch('/v1/pets', { headers: { origin } });
  expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
});

test.each([
  'https://evil.example',
  'http://localhost.evil.example',
  ...['http://localhost..', 'http://evillocalhost'],
  ...['http://127.0.0.1.evil.example', 'http://128.0.0.1', 'http://[::2]', 'http://[::]'],
  ...['ftp://localhost', 'null', 'http://evil.example@localhost', 'http://evil.example#.localhost'],
])('a page at %s may not use the local store, nor send a preflight', async (origin) => {
  // A page that rebinds DNS sends no preflight.
  for (const method of ['OPTIONS', 'GET', 'DELETE']) {
    const reply = await store.fetch('/v1/pets', { method, headers: { origin } });
    expectError(reply, 400, 'invalid_request', NOT_LOOPBACK);
    expect(reply.headers.has('access-control-allow-origin')).toBe(false);
  }
  // The browser shows only a CORS error.
  const line = { status: 400, cause: NOT_LOOPBACK };
  expect(await store.logLines()).toMatchObject([line, line, line]);
});
