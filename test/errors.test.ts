import { expect, test } from 'vitest';
import { generateKey } from '../src/auth/keys/format.ts';
import { recordName } from '../src/auth/keys/record.ts';
import { startStore } from './store.ts';

const store = startStore();

test.each([
  '/v1',
  '/v1/',
  '/v2/pets',
  '/v1/pet',
  '/v1/pets/',
  '/v1//pets',
  '/v1/Pets',
  '/V1/pets',
  '/v1/pets/1/',
  '/v1/pets/1/owner',
  '/v1/store',
  '/v1/store/orders/',
  '/pets',
  '/v1/pets%2F1',
  '/v1/%',
])('%s is a 404', async (path) => {
  for (const method of ['GET', 'POST', 'DELETE']) {
    const reply = await store.fetch(path, { method });
    expect(reply.status).toBe(404);
    expect(reply.headers.get('content-type')).toBe('application/json');
    expect(reply.body).toEqual({ code: 'not_found', message: expect.any(String), status: 404 });
  }
});

test.each([
  ['/v1/pets', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE', 'PROPFIND']],
  ['/v1/pets/1', 'GET, HEAD, PATCH, DELETE', ['POST', 'PUT']],
  ['/v1/store/orders', 'GET, HEAD, POST', ['PUT', 'PATCH', 'DELETE']],
  ['/v1/store/orders/1', 'GET, HEAD, PATCH', ['POST', 'PUT', 'DELETE']],
  ['/v1/health', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE']],
  ['/health', 'GET, HEAD', ['POST']],
])('%s accepts %s only', async (path, allow, others) => {
  for (const method of others) {
    const reply = await store.fetch(path, { method });
    expect(reply.status).toBe(405);
    expect(reply.headers.get('allow')).toBe(allow);
    expect(reply.body).toEqual({
      code: 'method_not_allowed',
      message: `This path accepts ${allow}.`,
      status: 405,
    });
  }
});

test.each(['/docs', '/docs/init.js', '/v1/openapi.json'])(
  'the static file %s can only be read',
  async (path) => {
    for (const method of ['OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers } = await store.fetch(path, { method });
      expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    }
  },
);

test('HEAD responds as GET does, without the body', async () => {
  await store.create({ name: 'Rex', categoryId: 1 });
  await store.create({ name: 'Max', categoryId: 1 });
  const { DB } = await store.bindings();
  await DB.exec('INSERT INTO orders (id, pet_id) VALUES (1, 1), (2, 2)');
  for (const path of [
    '/v1/pets?limit=1',
    '/v1/pets?limit=0',
    '/v1/pets/0',
    '/v1/store/orders?limit=1',
    '/v1/store/orders?limit=0',
    '/v1/store/orders/1',
    '/v1/store/orders/3',
    '/v1/nothing',
  ]) {
    const [get, head] = [await store.fetch(path), await store.fetch(path, { method: 'HEAD' })];
    expect(head.status).toBe(get.status);
    expect(head.text).toBe('');
    for (const name of ['content-type', 'link', 'cache-control', 'deprecation']) {
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    }
  }
});

test('every response has its own request id and nosniff', async () => {
  const ids = new Set<string | null>();
  const requests: [string, string][] = [
    ['GET', '/v1/pets'],
    ['GET', '/v1/pets/x'],
    ['HEAD', '/v1/pets'],
    ['POST', '/v1/pets'],
    ['PUT', '/v1/pets'],
    ['OPTIONS', '/v1/pets'],
    ['GET', '/nothing'],
  ];
  for (const [method, path] of requests) {
    const { headers } = await store.fetch(path, { method, headers: { 'x-request-id': 'mine' } });
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    ids.add(headers.get('x-request-id'));
  }
  expect(ids.size).toBe(requests.length);
});

test('an unexpected exception is logged with its stack and shown as internal_error', async () => {
  const key = generateKey('local');
  await (await store.bindings()).API_KEYS.put(await recordName(key), '{ broken');
  const reply = await store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
  expect(reply.status).toBe(500);
  expect(reply.body).toEqual({
    code: 'internal_error',
    message: 'Internal server error. Quote the X-Request-Id header when you report it.',
    status: 500,
  });
  expect(await store.logLines()).toEqual([
    expect.objectContaining({
      requestId: reply.headers.get('x-request-id'),
      status: 500,
      code: 'internal_error',
      cause: 'KV holds an invalid key record.',
      stack: expect.stringContaining('record.\n    at '),
    }),
  ]);
});

test.each([
  ['an unknown path', 'GET', '/v1/nothing', 404],
  ['another method', 'PUT', '/v1/pets', 405],
  ['a preflight', 'OPTIONS', '/v1/pets', 204],
  ['the health check', 'GET', '/health', 200],
  ['a bad request', 'GET', '/v1/pets?limit=0', 400],
])('no cache stores the response to %s', async (_, method, path, status) => {
  const reply = await store.fetch(path, { method });
  expect([reply.status, reply.headers.get('cache-control')]).toEqual([
    status,
    expect.stringMatching(/^(private, )?no-store$/),
  ]);
});

test('every query string of more than 2 KiB is a 400', async () => {
  const longest = `/v1/pets?status=${'x'.repeat(2048 - 'status='.length)}`;
  expect((await store.fetch(longest)).body).toMatchObject({
    message: expect.stringMatching(/^status: /),
  });
  expect((await store.fetch(`${longest}x`)).body).toEqual({
    code: 'invalid_request',
    message: 'query: must be at most 2048 bytes',
    status: 400,
  });
});

test('a message names at most 20 problems, and the number of others', async () => {
  const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`field${i}`, i]));
  const { body } = await store.create({ name: 'Rex', categoryId: 1, ...fields });
  const { message } = body as { message: string };
  expect(message).toMatch(
    /^field0: is not a known field; .*; field19: is not a known field; and 980 more$/,
  );
});

test.each(['/v1/pets', '/health', '/v1/nothing', '/docs', '/v1/openapi.json', '/'])(
  '%s has Strict-Transport-Security',
  async (path) => {
    const { headers } = await fetch(store.url() + path, { redirect: 'manual' });
    expect(headers.get('strict-transport-security')).toBe('max-age=31536000');
  },
);
