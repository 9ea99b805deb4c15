/** getPet is deprecated, and every response says so. */
import { expect, test } from 'vitest';
import { addPet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

test.each([
  { status: 200, path: '/v1/pets/1' },
  { status: 400, path: '/v1/pets/x' },
  { status: 404, path: '/v1/pets/77' },
  { status: 401, path: '/v1/pets/1', headers: { authorization: null } },
])('a $status of getPet is marked as deprecated: $path', async ({ status, path, ...init }) => {
  await addPet(store);
  const reply = await store.fetch(path, init);
  expect(reply.status).toBe(status);
  expect(reply.headers.get('deprecation')).toBe('@1795132800');
  expect(reply.headers.get('sunset')).toBe('Thu, 05 Dec 2030 00:00:00 GMT');
  expect(reply.headers.get('link')).toBe(
    `<${store.url()}/v1/pets>; rel="successor-version", <${store.url()}/docs>; rel="deprecation"`,
  );
});

test('the log marks getPet as deprecated, and no other operation', async () => {
  const { headers } = await store.fetch('/v1/pets');
  expect([headers.has('deprecation'), headers.has('sunset')]).toEqual([false, false]);
  await store.fetch('/v1/pets/77');
  const lines = await store.logLines();
  expect(lines.map(({ deprecated }) => deprecated)).toEqual([undefined, true]);
});
