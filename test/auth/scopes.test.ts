/** The scopes of keys, and the 403 of RFC 6750, section 3.1. */
import { beforeEach, describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { contents } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });
/** Without D1: a request that reaches it is a 500. */
const send = startApp(store);

/** An available animal, and an ordered one: the operations below succeed with a key that has the scope. */
beforeEach(() =>
  store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 3, 'available'), (2, 'Max', 3, 'pending');
     INSERT INTO orders (id, pet_id, status) VALUES (1, 2, 'placed')`,
  ),
);

const READS = [
  ['listPets', 'GET', '/v1/pets'],
  ['getPet', 'GET', '/v1/pets/1'],
  ['listOrders', 'GET', '/v1/store/orders'],
  ['getOrder', 'GET', '/v1/store/orders/1'],
  ['HEAD of a list', 'HEAD', '/v1/store/orders'],
] as const;

const WRITES = [
  ['createPet', 'POST', '/v1/pets', '{"name":"Tom","categoryId":3}', 201],
  ['updatePet', 'PATCH', '/v1/pets/1', '{"name":"Tom"}', 200],
  ['deletePet', 'DELETE', '/v1/pets/1', '', 204],
  ['placeOrder', 'POST', '/v1/store/orders', '{"petId":1}', 201],
  ['updateOrder', 'PATCH', '/v1/store/orders/1', '{"status":"approved"}', 200],
] as const;

async function authorization(record: { scopes?: string[]; revokedAt?: string }): Promise<string> {
  return `Bearer ${await store.issueKey({ id: 'the key', ...record })}`;
}

async function read(scopes: string[] | undefined, method: string, path: string) {
  const headers = { authorization: await authorization(scopes ? { scopes } : {}) };
  return store.fetch(path, { method, headers });
}

async function write(scopes: string[] | undefined, method: string, path: string, body: string) {
  const headers = { authorization: await authorization(scopes ? { scopes } : {}) };
  return store.send(method, path, body, { headers });
}

describe('a read-only key', () => {
  test.each(READS)('may do %s', async (_, method, path) => {
    const reply = await read(['read'], method, path);
    expect([reply.status, reply.headers.has('www-authenticate')]).toEqual([200, false]);
  });

  test.each(WRITES)(
    'may not do %s: the database is not reached',
    async (operation, method, path, body) => {
      const before = await contents(store);
      const reply = await write(['read'], method, path, body);
      expect(reply.body).toEqual({
        code: 'insufficient_scope',
        message: 'This API key does not have the scope write.',
        status: 403,
      });
      expect(reply.status).toBe(403);
      expect(reply.headers.get('www-authenticate')).toBe(
        'Bearer realm="animal-store", error="insufficient_scope", scope="write"',
      );
      expect(reply.headers.get('cache-control')).toBe('private, no-store');
      expect(await store.calls()).toMatchObject({ d1: 0 });
      expect(await contents(store)).toBe(before);
      expect(await store.logLines()).toEqual([
        expect.objectContaining({
          ...{ operation, status: 403, code: 'insufficient_scope', keyId: 'the key' },
        }),
      ]);
    },
  );

  test.each([
    ['POST', '/v1/pets', '{'],
    ['POST', '/v1/pets?x=1', ''],
    ['PATCH', '/v1/pets/abc', '[]'],
    ['DELETE', '/v1/pets/abc', ''],
    ['POST', '/v1/store/orders', 'x'.repeat(20_000)],
    ['PATCH', '/v1/store/orders/77', '{"status":"shipped"}'],
  ])(
    'is rejected before the rest of the request is validated: %s %s',
    async (method, path, body) => {
      const headers = { authorization: await authorization({ scopes: ['read'] }) };
      const reply = await send(method, path, body, headers);
      expect(reply.body).toMatchObject({ code: 'insufficient_scope', status: 403 });
    },
  );

  test('cannot replay the create of another key with its idempotency key', async () => {
    const both = await authorization({});
    const readOnly = await authorization({ scopes: ['read'] });
    const create = (sender: string) =>
      store.placeOrder(
        { petId: 1 },
        { headers: { authorization: sender, 'idempotency-key': 'k' } },
      );
    expect((await create(both)).status).toBe(201);
    expect((await create(readOnly)).status).toBe(403);
  });

  test('that was revoked is a 401', async () => {
    const headers = {
      authorization: await authorization({ scopes: ['read'], revokedAt: '2026-11-20T00:00:00Z' }),
    };
    const reply = await store.create({ name: 'Tom', categoryId: 3 }, { headers });
    expect([reply.status, reply.body]).toMatchObject([401, { code: 'revoked_api_key' }]);
  });
});

describe.each([
  ['without scopes', undefined],
  ['with read and write', ['read', 'write']],
  ['with an additional unknown scope', ['admin', 'write', 'read']],
])('a key %s', (_, scopes) => {
  test.each(READS)('may do %s', async (_operation, method, path) => {
    expect((await read(scopes, method, path)).status).toBe(200);
  });

  test.each(WRITES)('may do %s', async (_operation, method, path, body, status) => {
    expect((await write(scopes, method, path, body)).status).toBe(status);
  });
});

describe.each([
  ['with no scope', []],
  ['with only an unknown scope', ['admin']],
  ['with scopes in capitals', ['READ', 'WRITE']],
])('a key %s', (_, scopes) => {
  test.each(READS)('may not do %s', async (_operation, method, path) => {
    const headers = { authorization: await authorization({ scopes }) };
    const reply = await send(method, path, undefined, headers);
    expect(reply.status).toBe(403);
    expect(reply.headers.get('www-authenticate')).toBe(
      'Bearer realm="animal-store", error="insufficient_scope", scope="read"',
    );
  });

  test.each(WRITES)('may not do %s', async (_operation, method, path, body) => {
    const headers = { authorization: await authorization({ scopes }) };
    expect((await send(method, path, body, headers)).status).toBe(403);
  });
});

test('unmatched routes need no scope', async () => {
  expect((await read([], 'GET', '/v1/nothing')).status).toBe(404);
  expect((await read([], 'PUT', '/v1/pets')).status).toBe(405);
  expect((await read([], 'OPTIONS', '/v1/pets')).status).toBe(204);
});
