import { describe, expect, test } from 'vitest';
import { generateKey } from '../../src/keys/format.ts';
import { recordName } from '../../src/keys/record.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const CHALLENGE = 'Bearer realm="animal-store"';

/** Every operation, with a request that is bad beyond its key: a 401 comes before any 400. */
const OPERATIONS = [
  ['listPets', 'GET', '/v1/pets?limit=0'],
  ['createPet', 'POST', '/v1/pets?x=1'],
  ['getPet', 'GET', '/v1/pets/abc'],
  ['updatePet', 'PATCH', '/v1/pets/abc'],
  ['deletePet', 'DELETE', '/v1/pets/abc'],
  ['listOrders', 'GET', '/v1/store/orders?limit=0'],
  ['placeOrder', 'POST', '/v1/store/orders?x=1'],
  ['getOrder', 'GET', '/v1/store/orders/abc'],
  ['updateOrder', 'PATCH', '/v1/store/orders/abc'],
  ['HEAD of a list', 'HEAD', '/v1/pets?limit=0'],
  ['HEAD of an order', 'HEAD', '/v1/store/orders/abc'],
] as const;

describe.each(OPERATIONS)('%s', (_, method, path) => {
  test.each([
    ['no header', null, 'missing_api_key'],
    ['another scheme', 'Basic dXNlcjpwYXNz', 'missing_api_key'],
    ['a key without a scheme', generateKey('local'), 'missing_api_key'],
    ['a scheme without a key', 'Bearer', 'missing_api_key'],
    ['a scheme and a space', 'Bearer ', 'missing_api_key'],
    ['garbage', 'Bearer garbage', 'invalid_api_key'],
    ['two keys', `Bearer ${generateKey('local')} ${generateKey('local')}`, 'invalid_api_key'],
    [
      'two credentials',
      `Bearer ${generateKey('local')}, Bearer ${generateKey('local')}`,
      'invalid_api_key',
    ],
    ['a quoted key', `Bearer "${generateKey('local')}"`, 'invalid_api_key'],
    ['a wrong checksum', `Bearer ${generateKey('local').slice(0, -1)}~`, 'invalid_api_key'],
    ['a key that was never issued', `Bearer ${generateKey('local')}`, 'invalid_api_key'],
    ['a key of another environment', `Bearer ${generateKey('production')}`, 'invalid_api_key'],
    ['a very long key', `Bearer ${'x'.repeat(8000)}`, 'invalid_api_key'],
  ])('refuses %s', async (_case, authorization, code) => {
    const { status, headers, body } = await store.fetch(path, {
      method,
      headers: { authorization },
    });
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe(
      code === 'missing_api_key' ? CHALLENGE : `${CHALLENGE}, error="invalid_token"`,
    );
    expect(headers.get('cache-control')).toBe('private, no-store');
    if (method !== 'HEAD') expect(body).toEqual({ code, message: expect.any(String), status });
    expect(await store.calls()).toMatchObject({ d1: 0 });
  });
});

async function statusAndCode(key: string): Promise<[number, unknown]> {
  const { status, headers, body } = await store.fetch('/v1/pets', {
    headers: { authorization: `Bearer ${key}` },
  });
  const challenge = status === 401 ? `${CHALLENGE}, error="invalid_token"` : null;
  expect(headers.get('www-authenticate')).toBe(challenge);
  return [status, (body as { code?: string }).code];
}

describe('an issued key', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  '])(
    'is taken with the scheme %j',
    async (scheme) => {
      const authorization = `${scheme} ${await store.issueKey()}`;
      const reply = await store.fetch('/v1/pets', { headers: { authorization } });
      expect(reply.status).toBe(200);
      expect(reply.headers.get('cache-control')).toBe('private, no-store');
      expect(reply.headers.has('www-authenticate')).toBe(false);
    },
  );

  test('works until it expires', async () => {
    const past = new Date(Date.now() - 1000).toISOString();
    const future = new Date(Date.now() + 60_000).toISOString();
    expect(await statusAndCode(await store.issueKey({ expiresAt: past }))).toEqual([
      401,
      'expired_api_key',
    ]);
    expect(await statusAndCode(await store.issueKey({ expiresAt: future }))).toEqual([
      200,
      undefined,
    ]);
  });

  test('does not work once it was revoked, whether it has expired or not', async () => {
    const revokedAt = new Date().toISOString();
    expect(await statusAndCode(await store.issueKey({ revokedAt }))).toEqual([
      401,
      'revoked_api_key',
    ]);
    expect(await statusAndCode(await store.issueKey({ revokedAt, expiresAt: revokedAt }))).toEqual([
      401,
      'revoked_api_key',
    ]);
  });

  test('is not remembered as unknown by an isolate that saw it before it was issued', async () => {
    const { API_KEYS } = await store.bindings();
    const key = generateKey('local');
    expect(await statusAndCode(key)).toEqual([401, 'invalid_api_key']);
    await API_KEYS.put(
      await recordName(key),
      JSON.stringify({ id: 'late', label: 'x', createdAt: '2026-11-20T00:00:00Z', unknown: [1] }),
    );
    expect(await statusAndCode(key)).toEqual([200, undefined]);
  });

  test.each(['{', '{}', '{"id":""}', '[]', '{"id":"x","label":"x","createdAt":"yesterday"}'])(
    'whose record is %s is our mistake, not the client’s',
    async (record) => {
      const key = generateKey('local');
      await (await store.bindings()).API_KEYS.put(await recordName(key), record);
      expect(await statusAndCode(key)).toEqual([500, 'internal_error']);
    },
  );
});

test('no key is needed for what is no operation', async () => {
  const headers = { authorization: null };
  expect((await store.fetch('/v1/nothing', { headers })).status).toBe(404);
  expect((await store.fetch('/v1/pets', { method: 'DELETE', headers })).status).toBe(405);
  expect((await store.fetch('/v1/pets', { method: 'OPTIONS', headers })).status).toBe(204);
});
