import { expect, test } from 'vitest';
import { generateKey } from '../src/auth/key-format.ts';
import { recordName } from '../src/auth/key-record.ts';
import { errorOf } from './contract.ts';
import { seedStore } from './orders/steps.ts';
import { startStore } from './store.ts';

const store = startStore();

test.each([
  ['/v1/pets', 'GET, HEAD, POST', 'PROPFIND'],
  ['/v1/pets/1', 'GET, HEAD, PATCH, DELETE', 'POST'],
  ['/v1/store/orders', 'GET, HEAD, POST', 'DELETE'],
  ['/v1/store/orders/1', 'GET, HEAD, PATCH', 'DELETE'],
  ['/health', 'GET, HEAD', 'PATCH'],
])('%s accepts %s, not %s, and needs no key to say so', async (path, methods, method) => {
  const rejected = await store.fetch(path, { method, headers: { authorization: null } });
  expect(rejected.headers.get('allow')).toBe(`${methods}, OPTIONS`);
  expect(errorOf(rejected.body)).toBe(`405 method_not_allowed: This path accepts ${methods}.`);
});

test('HEAD is answered as GET, without the body', async () => {
  await seedStore(store, 2);
  const get = await store.fetch('/v1/pets?limit=1');
  const head = await store.fetch('/v1/pets?limit=1', { method: 'HEAD' });
  expect([head.status, head.text]).toEqual([get.status, '']);
  for (const name of ['content-type', 'link', 'cache-control'])
    expect(head.headers.get(name)).toBe(get.headers.get(name));
});

test('an unexpected exception is logged with its stack, and shown as internal_error', async () => {
  const key = generateKey('local');
  await (await store.bindings()).API_KEYS.put(await recordName(key), '{ broken');
  const reply = await store.fetch('/v1/pets', { headers: { authorization: `Bearer ${key}` } });
  expect(errorOf(reply.body)).toBe(
    '500 internal_error: Internal server error. Quote the X-Request-Id header when you report it.',
  );
  expect(await store.logLines()).toMatchObject([
    {
      requestId: reply.headers.get('x-request-id'),
      code: 'internal_error',
      cause: 'KV holds an invalid key record.',
      stack: expect.stringContaining('record.\n    at '),
    },
  ]);
});
