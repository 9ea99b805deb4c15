/** What holds of every operation that needs a key. A new operation needs a row in `OPERATIONS`. */
import { beforeEach, describe, expect, test } from 'vitest';
import { operations } from './support/contract.ts';
import { expectError, startStore } from './support/store.ts';

const store = startStore({ faults: true });

const UNKNOWN = 'It is unknown whether';
const CHECK =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';

/** Each succeeds with the rows of `beforeEach`. `unavailable` is what a write says while D1 does not respond. */
const OPERATIONS = [
  { id: 'listPets', method: 'GET', path: '/v1/pets', unavailable: '' },
  {
    id: 'createPet',
    method: 'POST',
    path: '/v1/pets',
    body: { name: 'Rex', categoryId: 3 },
    unavailable: `${UNKNOWN} the animal was added. ${CHECK}`,
  },
  { id: 'getPet', method: 'GET', path: '/v1/pets/1', unavailable: '' },
  {
    id: 'updatePet',
    method: 'PATCH',
    path: '/v1/pets/1',
    body: { name: 'Max' },
    unavailable: `${UNKNOWN} the animal was changed. Check before you retry: the same change could overwrite a later one of another client.`,
  },
  {
    id: 'deletePet',
    method: 'DELETE',
    path: '/v1/pets/2',
    unavailable: `${UNKNOWN} the animal was deleted. A retry is safe: 404 means that the animal is deleted.`,
  },
  { id: 'listOrders', method: 'GET', path: '/v1/store/orders', unavailable: '' },
  {
    id: 'placeOrder',
    method: 'POST',
    path: '/v1/store/orders',
    body: { petId: 2 },
    unavailable: `${UNKNOWN} the order was placed. ${CHECK}`,
  },
  { id: 'getOrder', method: 'GET', path: '/v1/store/orders/1', unavailable: '' },
  {
    id: 'updateOrder',
    method: 'PATCH',
    path: '/v1/store/orders/1',
    body: { status: 'approved' },
    unavailable: `${UNKNOWN} the order was changed. A retry is safe: setting the current status again changes nothing.`,
  },
];

beforeEach(async () => {
  await store.insertPet({ id: 1, status: 'pending' });
  await store.insertPet({ id: 2, status: 'available' });
  await store.insertOrder({ id: 1, pet_id: 1, status: 'placed' });
});

test('the table has every operation of the description that needs a key', () => {
  const described = operations.filter(({ operation }) => operation.security === undefined);
  expect(OPERATIONS.map(({ id }) => id)).toEqual(described.map(({ operationId }) => operationId));
});

describe.each(OPERATIONS)('$id', ({ method, path, body, unavailable }) => {
  const isRead = method === 'GET';
  const send = (init = {}) => store.send(method, path, isRead ? undefined : body, init);

  test('calls D1 once, reads KV for a new key alone, and counts each request', async () => {
    const key = await store.issueKey();
    expect((await send({ key })).status).toBeLessThan(300);
    await store.fetch('/v1/pets/0', { key });
    // D1 retries a read that fails, unless it is in a batch.
    const batches = isRead ? { batches: 0 } : {};
    expect(await store.calls()).toMatchObject({ kvReads: 1, keyLimits: 2, d1: 2, ...batches });
  });

  test('needs a key', async () => {
    const reply = await store.expectUnchanged(() => send({ key: null }));
    expectError(reply, 401, 'missing_api_key');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="animal-store"');
    expect(reply.headers.get('cache-control')).toBe('private, no-store');
  });

  // RFC 6750, section 3.1.
  test('needs its scope, before it is validated', async () => {
    const [scope, other] = isRead ? ['read', 'write'] : ['write', 'read'];
    const key = await store.issueKey({ scopes: [other] });
    const reply = await store.send(method, `${path}?x=1`, isRead ? undefined : '{', { key });
    expectError(reply, 403, 'insufficient_scope');
    expect(reply.headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  });

  test('rejects an unknown parameter', async () => {
    const reply = await store.send(method, `${path}?x=1`, isRead ? undefined : body);
    expectError(reply, 400, 'invalid_request', expect.stringMatching(/^x: /));
  });

  test('is a 503 while D1 fails, and changes nothing', async () => {
    await store.fault({ d1: ['throws'] });
    const reply = await store.expectUnchanged(send);
    expectError(reply, 503, 'service_unavailable', expect.stringContaining(unavailable));
    expect(reply.headers.get('retry-after')).toBe('5');
    // Without an Idempotency-Key, the worker leaves retries to the client.
    expect((await store.calls()).d1).toBe(1);
  });
});

/** Any text of the secret stops writes, also an empty one: wrangler stores it without an error. */
const STOPPED = { vars: { WRITES_STOPPED: '' } };

test.each(OPERATIONS.filter(({ method }) => method !== 'GET'))(
  'while writes are stopped, $id is a 503, before it is validated',
  async ({ method, path, body }) => {
    await store.fault(STOPPED);
    const reply = await store.send(method, `${path}?x=%`, '{');
    expectError(reply, 503, 'service_unavailable');
    const line = (await store.logLines()).at(-1);
    expect(line).toMatchObject({ code: 'service_unavailable', keyId: 'suite' });
    // So it is no error line.
    expect(line).not.toHaveProperty('cause');
    expect((await store.calls()).d1).toBe(0);
    const key = await store.issueKey({ scopes: ['read'] });
    expectError(await store.send(method, path, body, { key }), 403, 'insufficient_scope');
  },
);

test.each(OPERATIONS.filter(({ method }) => method === 'GET'))(
  'while writes are stopped, $id works',
  async ({ path }) => {
    await store.fault(STOPPED);
    expect((await store.fetch(path)).status).toBe(200);
  },
);
