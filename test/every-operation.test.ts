/**
 * What holds of every operation that needs a key. Its example succeeds with the rows of
 * `beforeEach`.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { unavailableMessage } from '../src/http/unavailable.ts';
import { operations } from './support/contract.ts';
import { expectError, startFaultyStore } from './support/store.ts';

const store = startFaultyStore();

/** What a write says while D1 does not respond. */
const UNAVAILABLE: Record<string, string> = {
  createPet:
    'The database did not respond. It is unknown whether the animal was added. Check before you retry. To make retries safe, send an Idempotency-Key with the first request.',
  updatePet:
    'The database did not respond. It is unknown whether the animal was changed. Check before you retry: the same change could overwrite a later one of another client.',
  deletePet:
    'The database did not respond. It is unknown whether the animal was deleted. A retry is safe: 404 means that the animal is deleted.',
  placeOrder:
    'The database did not respond. It is unknown whether the order was placed. Check before you retry. To make retries safe, send an Idempotency-Key with the first request.',
  updateOrder:
    'The database did not respond. It is unknown whether the order was changed. A retry is safe: setting the current status again changes nothing.',
};

const OPERATIONS = operations
  .filter(({ operation }) => operation.security === undefined)
  .map(({ operationId, method, path, exampleBody }) => ({
    id: operationId,
    scope: method === 'GET' ? 'read' : 'write',
    method,
    path: path.replaceAll(/\{\w+\}/g, '1'),
    body: exampleBody,
  }));
const WITH_ID = OPERATIONS.filter(({ path }) => path.endsWith('/1'));
const READS = OPERATIONS.filter(({ scope }) => scope === 'read');
const WRITES = OPERATIONS.filter(({ scope }) => scope === 'write');

beforeEach(async () => {
  await store.insertPet({ id: 1, status: 'available' });
  await store.insertPet({ id: 2, status: 'pending' });
  await store.insertOrder({ id: 1, pet_id: 2, status: 'placed' });
});

describe.each(OPERATIONS)('$id', ({ id, scope, method, path, body }) => {
  const send = (init = {}) => store.send(method, path, body, init);

  test('calls D1 once, reads KV for a new key alone, and counts each request', async () => {
    const key = await store.issueKey();
    expect((await send({ key })).status).toBeLessThan(300);
    await store.fetch('/v1/pets/0', { key });
    expect(await store.calls()).toMatchObject({ kvReads: 1, keyLimits: 2, d1: 2 });
  });

  test('needs a key', async () => {
    const reply = await store.expectUnchanged(() => send({ key: null }));
    expectError(reply, 401, 'missing_api_key');
  });

  // RFC 6750, section 3.1.
  test('needs its scope, before it is validated', async () => {
    const key = await store.issueKey({ scopes: [scope === 'read' ? 'write' : 'read'] });
    const reply = await store.send(method, `${path}?x=1`, body, { key });
    const message = `This API key does not have the scope ${scope}.`;
    expectError(reply, 403, 'insufficient_scope', message);
    const challenge = `Bearer realm="animal-store", error="insufficient_scope", scope="${scope}"`;
    expect(reply.headers.get('www-authenticate')).toBe(challenge);
  });

  test('rejects an unknown parameter', async () => {
    const reply = await store.send(method, `${path}?x=1`, body);
    expectError(reply, 400, 'invalid_request', expect.stringMatching(/^x: /));
  });

  test('is a 503 while D1 fails, and changes nothing', async () => {
    await store.fault({ d1: ['throws'] });
    // Only a create accepts it; the others ignore any value.
    const headers = { 'idempotency-key': method === 'POST' ? null : 'é' };
    const reply = await store.expectUnchanged(() => send({ headers }));
    // A write must have words of its own. Those of a read: test/error-response.test.ts.
    const message = UNAVAILABLE[id] ?? unavailableMessage(undefined, false);
    expectError(reply, 503, 'service_unavailable', message);
    expect(reply.headers.get('retry-after')).toBe('5');
    // Without an Idempotency-Key, the worker leaves retries to the client.
    expect((await store.calls()).d1).toBe(1);
  });
});

test.each(WITH_ID)('$id of an unknown id is a 404, and of no int64 a 400', async (each) => {
  const send = (id: string) =>
    store.expectUnchanged(() => store.send(each.method, each.path.replace(/1$/, id), each.body));
  const code = expect.stringMatching(/_not_found$/);
  const notFound = expect.stringMatching(/ -9223372036854775808\.$/);
  expectError(await send('-9223372036854775808'), 404, code, notFound);
  const message = expect.stringMatching(/^\w+Id: /);
  expectError(await send('9223372036854775808'), 400, 'invalid_request', message);
});

/** Any text of the secret stops writes, also an empty one: wrangler stores it without an error. */
const STOPPED = { vars: { WRITES_STOPPED: '' } };

test.each(WRITES)(
  'while writes are stopped, $id is a 503, before it is validated',
  async ({ method, path, body }) => {
    await store.fault(STOPPED);
    const reply = await store.send(method, `${path}?x=%`, '{');
    const message = 'Writes are temporarily stopped; reads still work. Retry later.';
    expectError(reply, 503, 'service_unavailable', message);
    expect(reply.headers.get('retry-after')).toBe('5');
    const line = (await store.logLines()).at(-1);
    expect(line).toMatchObject({ code: 'service_unavailable', keyId: 'suite' });
    // So it is no error line.
    expect(line).not.toHaveProperty('cause');
    expect(await store.calls()).toMatchObject({ d1: 0, keyLimits: 1 });
    const key = await store.issueKey({ scopes: ['read'] });
    expectError(await store.send(method, path, body, { key }), 403, 'insufficient_scope');
  },
);

test.each(READS)('$id is one statement, also while writes are stopped', async ({ path }) => {
  await store.fault(STOPPED);
  expect((await store.fetch(path)).status).toBe(200);
  // D1 retries a read that fails, unless it is in a batch.
  expect((await store.calls()).batches).toBe(0);
});
