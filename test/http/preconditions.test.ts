/** The service has no validators, so it must not carry out a change with a precondition (RFC 9110, section 13.1.1). */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

test.each([
  ['PATCH', '/v1/pets/1', 'If-Match', '"1"'],
  ['DELETE', '/v1/pets/1', 'If-None-Match', '*'],
  ['PATCH', '/v1/store/orders/1', 'If-Unmodified-Since', 'Fri, 20 Nov 2026 00:00:00 GMT'],
])('a %s of %s with %s is a 400', async (method, path, name, value) => {
  const { body } = await send(method, path, '{"status":"sold"}', { [name]: value });
  expect(errorOf(body)).toContain(
    `${name}: is not supported, because responses have no ETag and no Last-Modified`,
  );
});

test('GET and POST ignore preconditions', async () => {
  const headers = { 'If-Match': '"1"', 'If-None-Match': '*' };
  expect((await store.create({ name: 'Ada', categoryId: 1 }, { headers })).status).toBe(201);
  expect((await store.fetch('/v1/pets/1', { headers })).status).toBe(200);
});
