import { expect, test } from 'vitest';
import { errorOf, operations } from '../support/contract.ts';
import { startStore } from '../support/store.ts';

const store = startStore({ faults: true });

test.each([
  ['/v1/pets', 'GET, HEAD, POST', 'PROPFIND'],
  ['/v1/pets/1', 'GET, HEAD, PATCH, DELETE', 'POST'],
])('%s accepts %s, and needs no key to reject %s', async (path, methods, method) => {
  const rejected = await store.fetch(path, { method, key: null });
  expect(rejected.headers.get('allow')).toBe(`${methods}, OPTIONS`);
  expect(errorOf(rejected.body)).toBe(`405 method_not_allowed: This path accepts ${methods}.`);
});

test('HEAD is answered as GET, without the body', async () => {
  const { status, headers, text } = await store.fetch('/v1/pets', { method: 'HEAD' });
  expect([status, headers.get('content-type'), text]).toEqual([200, 'application/json', '']);
});

test('a local store without migrations is a 503 that says how to start it', async () => {
  await store.fault({ unmigrated: true });
  const { body } = await store.fetch('/v1/pets');
  expect(errorOf(body)).toBe(
    '503 service_unavailable: The store lacks a migration. Restart it: npm start',
  );
});

const ADA = { name: 'Ada', categoryId: 2 };
/**
 * Operators set this secret to stop writes while reads still work. Any text stops them, also an empty one: wrangler stores it
 * without an error, and a release counts it as a stop.
 */
const WRITES_STOPPED = '';

test.each(operations.filter(({ method }) => method !== 'GET'))(
  'while writes are stopped, $operation.operationId is a 503 before it is validated',
  async ({ method, examplePath }) => {
    await store.fault({ vars: { WRITES_STOPPED } });
    const { body } = await store.send(method, `${examplePath}?x=%`, '{');
    expect(errorOf(body)).toBe(
      '503 service_unavailable: Writes are temporarily stopped; reads still work. Retry later.',
    );
    expect((await store.calls()).d1).toBe(0);
    const line = (await store.logLines()).at(-1);
    expect(line).toMatchObject({ code: 'service_unavailable', keyId: 'suite' });
    // So it is no error line.
    expect(line).not.toHaveProperty('cause');
  },
);

test('while writes are stopped, reads still work, and a key without the scope is rejected as always', async () => {
  await store.fault({ vars: { WRITES_STOPPED: 'since 12:00' } });
  expect((await store.createPet(ADA)).status).toBe(503);
  const key = await store.issueKey({ scopes: ['read'] });
  expect((await store.fetch('/v1/pets', { key })).status).toBe(200);
  expect((await store.createPet(ADA, { key })).status).toBe(403);
});
