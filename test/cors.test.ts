import { expect, test } from 'vitest';
import { startStore } from './store.ts';

const store = startStore();
const staging = startStore({ env: 'staging' });
/** A front end under development: the local environment accepts pages of loopback hosts only. */
const PAGE = 'http://localhost:5173';

function list(value: string | null): string[] {
  return (value ?? '')
    .split(',')
    .map((item) => item.trim())
    .sort();
}

test.each([
  ['/v1/pets', 'GET,HEAD,POST', 'GET, HEAD, POST'],
  ['/v1/pets/1', 'GET,HEAD,PATCH,DELETE', 'GET, HEAD, PATCH, DELETE'],
  ['/v1/store/orders', 'GET,HEAD,POST', 'GET, HEAD, POST'],
  ['/v1/store/orders/1', 'GET,HEAD,PATCH', 'GET, HEAD, PATCH'],
  ['/v1/health', 'GET,HEAD', 'GET, HEAD'],
  ['/v1/nothing', 'GET,HEAD,POST,PATCH,DELETE', null],
])("a preflight for %s offers the path's methods, and is kept", async (path, methods, allow) => {
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
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-methods')).toBe(methods);
  expect(headers.get('allow')).toBe(allow);
  expect(list(headers.get('access-control-allow-headers'))).toEqual([
    'Authorization',
    'Content-Type',
    'Idempotency-Key',
    'X-D1-Bookmark',
  ]);
  expect(headers.get('access-control-max-age')).toBe('7200');
  expect(headers.has('access-control-allow-credentials')).toBe(false);
});

test.each([
  ['an answer', '/v1/pets', {}],
  ['a 400', '/v1/pets?limit=0', {}],
  ['a 401', '/v1/pets', { authorization: null }],
  ['a 404', '/nothing', {}],
])('%s can be read from any origin, with its headers', async (_, path, headers) => {
  const reply = await store.fetch(path, {
    headers: { origin: PAGE, ...headers },
  });
  expect(reply.headers.get('access-control-allow-origin')).toBe('*');
  expect(list(reply.headers.get('access-control-expose-headers'))).toEqual([
    'Accept',
    'Accept-Encoding',
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

const body = JSON.stringify({ name: 'Rex', categoryId: 1 });
const headers = { 'content-type': 'application/json' };

async function petCount(): Promise<number | null> {
  return (await store.bindings()).DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n');
}

test.each([
  'http://localhost',
  'http://localhost:5173',
  'https://shop.localhost:8443',
  'http://127.0.0.1:3000',
  'http://127.8.9.10',
  'http://[::1]:8080',
])('a page at %s may write to the local store', async (origin) => {
  const reply = await store.fetch('/v1/pets', {
    ...{ method: 'POST', body },
    headers: { ...headers, origin },
  });
  expect([reply.status, reply.headers.get('access-control-allow-origin')]).toEqual([201, '*']);
});

test.each([
  'https://evil.example',
  'http://localhost.evil.example',
  'http://evillocalhost',
  'http://127.0.0.1.evil.example',
  'http://128.0.0.1',
  'http://[::2]',
  'ftp://localhost',
  'null',
])('a page at %j can neither write to the local store nor read from it', async (origin) => {
  for (const method of ['POST', 'GET', 'OPTIONS']) {
    const reply = await store.fetch('/v1/pets', {
      ...(method === 'POST' ? { method, body } : { method }),
      headers: { ...headers, origin },
    });
    expect([reply.status, (reply.body as { code: string }).code]).toEqual([400, 'invalid_request']);
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual(
      [],
    );
  }
  expect(await petCount()).toBe(0);
});

test('staging and production accept pages of any origin', async () => {
  expect(
    (await staging.fetch('/v1/pets', { headers: { origin: 'https://shop.example' } })).status,
  ).toBe(200);
});
