/**
 * What holds of every operation that needs a key. Its example succeeds with the rows of
 * `beforeEach`.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { operations } from './support/contract.ts';
import { expectError, startStore } from './support/store.ts';

const store = startStore({ faults: true });

/** What a write says while D1 does not respond. */
const UNAVAILABLE: Record<string, RegExp> = {
  createPet: /animal was added.+ send an Idempotency-Key/,
  updatePet: /animal was changed.+ could overwrite/,
  deletePet: /animal was deleted.+ 404 means/,
  placeOrder: /order was placed.+ send an Idempotency-Key/,
  updateOrder: /order was changed.+ changes nothing/,
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
    expectError(reply, 403, 'insufficient_scope');
    const challenge = `Bearer realm="animal-store", error="insufficient_scope", scope="${scope}"`;
    expect(reply.headers.get('www-authenticate')).toBe(challenge);
  });

  test('rejects an unknown parameter', async () => {
    const reply = await store.send(method, `${path}?x=1`, body);
    expectError(reply, 400, 'invalid_request', expect.stringMatching(/^x: /));
  });

  test('is a 503 while D1 fails, and changes nothing', async () => {
    await store.fault({ d1: ['throws'] });
    const reply = await store.expectUnchanged(send);
    // A write must have words of its own.
    const words = scope === 'read' ? /./ : (UNAVAILABLE[id] ?? id);
    expectError(reply, 503, 'service_unavailable', expect.stringMatching(words));
    expect(reply.headers.get('retry-after')).toBe('5');
    // Without an Idempotency-Key, the worker leaves retries to the client.
    expect((await store.calls()).d1).toBe(1);
  });
});

test.each(WITH_ID)('$id of an unknown id is a 404 that changes nothing', async (each) => {
  const path = each.path.replace(/1$/, '9');
  const reply = await store.expectUnchanged(() => store.send(each.method, path, each.body));
  expectError(reply, 404, expect.stringMatching(/_not_found$/));
});

test.each(WITH_ID)('$id of an id that is no int64 is a 400', async ({ method, path, body }) => {
  const reply = await store.send(method, path.replace(/1$/, '9223372036854775808'), body);
  expectError(reply, 400, 'invalid_request', expect.stringMatching(/^\w+Id: /));
});

// D1 retries a read that fails, unless it is in a batch.
test.each(READS)('$id is one statement', async ({ path }) => {
  await store.fetch(path);
  expect((await store.calls()).batches).toBe(0);
});

/** Any text of the secret stops writes, also an empty one: wrangler stores it without an error. */
const STOPPED = { vars: { WRITES_STOPPED: '' } };

test.each(WRITES)(
  'while writes are stopped, $id is a 503, before it is validated',
  async ({ method, path, body }) => {
    await store.fault(STOPPED);
    const reply = await store.send(method, `${path}?x=%`, '{');
    expectError(reply, 503, 'service_unavailable');
    const line = (await store.logLines()).at(-1);
    expect(line).toMatchObject({ code: 'service_unavailable', keyId: 'suite' });
    // So it is no error line.
    expect(line).not.toHaveProperty('cause');
    expect(await store.calls()).toMatchObject({ d1: 0, keyLimits: 1 });
    const key = await store.issueKey({ scopes: ['read'] });
    expectError(await store.send(method, path, body, { key }), 403, 'insufficient_scope');
  },
);

test.each(READS)('while writes are stopped, $id works', async ({ path }) => {
  await store.fault(STOPPED);
  expect((await store.fetch(path)).status).toBe(200);
});
