/** Paths are exact, and every part of a URL is read as it was sent. */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startStore } from '../store.ts';

const store = startStore();

test.each([
  ...['/v1', '/pets', '/v1/pets/1/owner', '/v1/pets/', '/v1/pets/1/', '/v1//pets', '//v1/pets'],
  ...['/v1/Pets', '/V1/pets', '/v1/%70ets', '/%761/pets', '/v1/pets%2F1', '/v1/%', '/%ff'],
])('%s is not found', async (path) => {
  const { headers, body } = await store.fetch(path);
  expect(headers.get('content-type')).toBe('application/json');
  expect(errorOf(body)).toBe('404 not_found: Path not found.');
});

test.each(['/v1/pets?status=%ff', '/v1/pets?%ff=1', '/v1/pets?limit=1&x=%', '/health?%zz'])(
  '%s has a malformed query',
  async (path) => {
    expect(errorOf((await store.fetch(path)).body)).toBe(
      '400 invalid_request: query: must be percent-encoded UTF-8',
    );
  },
);

test('a query may be percent-encoded', async () => {
  expect((await store.fetch('/v1/pets?st%61tus=%73old')).text).toBe('[]');
});

test('a query has at most 2,048 characters, and a parameter a name', async () => {
  const longest = `/v1/pets?status=${'x'.repeat(2048 - 'status='.length)}`;
  expect((await store.fetch(longest)).body).toMatchObject({
    message: 'status: must be one of available, pending, sold',
  });
  expect((await store.fetch(`${longest}x`)).body).toMatchObject({
    message: 'query: must be at most 2048 characters',
  });
  for (const nameless of ['/v1/pets?=1', '/v1/pets?limit=5&=1', '/v1/pets/1?=1']) {
    expect((await store.fetch(nameless)).body).toMatchObject({
      message: 'query: every parameter must have a name',
    });
  }
});

test('/health accepts no parameters', async () => {
  expect(errorOf((await store.fetch('/health?x=1')).body)).toBe(
    '400 invalid_request: x: is not a known parameter',
  );
});
