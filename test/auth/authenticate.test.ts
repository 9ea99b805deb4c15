import { describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { recordName } from '../../src/auth/keys/record.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
const send = startApp(store);

/** The challenge to a request without a key, and to one with an invalid key. */
const CHALLENGE = 'Bearer realm="animal-store"';
const INVALID_TOKEN = `${CHALLENGE}, error="invalid_token"`;

const WITHOUT_KEY: [sent: string, authorization: string | null][] = [
  ['no header', null],
  ['another scheme', 'Basic dXNlcjpwYXNz'],
  ['a key without a scheme', generateKey('local')],
  ['a scheme without a key', 'Bearer'],
  ['a scheme and a space', 'Bearer '],
];

const WITH_INVALID_KEY: [sent: string, authorization: string][] = [
  ['garbage', 'Bearer garbage'],
  ['two keys', `Bearer ${generateKey('local')} ${generateKey('local')}`],
  ['two credentials', `Bearer ${generateKey('local')}, Bearer ${generateKey('local')}`],
  ['a quoted key', `Bearer "${generateKey('local')}"`],
  ['a wrong checksum', `Bearer ${generateKey('local').slice(0, -1)}~`],
  ['a key that was never issued', `Bearer ${generateKey('local')}`],
  ['a key of another environment', `Bearer ${generateKey('production')}`],
  ['a very long key', `Bearer ${'x'.repeat(8000)}`],
];

/** Sends a request without access, and expects a 401; one that reached D1 would be a 500. */
async function expectUnauthorized(
  method: string,
  path: string,
  authorization: string | null,
  challenge: string,
): Promise<unknown> {
  const { status, headers, body } = await send(method, path, undefined, { authorization });
  expect(status).toBe(401);
  expect(headers.get('www-authenticate')).toBe(challenge);
  expect(headers.get('cache-control')).toBe('private, no-store');
  return body;
}

/** Every operation, with a request that is invalid beyond its key: a 401 precedes any 400. */
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
] as const;

describe.each(OPERATIONS)('%s', (_, method, path) => {
  test.each(WITHOUT_KEY)('rejects %s as missing_api_key', async (_sent, authorization) => {
    const body = await expectUnauthorized(method, path, authorization, CHALLENGE);
    const message = expect.any(String);
    expect(body).toEqual({ code: 'missing_api_key', message, status: 401 });
  });

  test.each(WITH_INVALID_KEY)('rejects %s as invalid_api_key', async (_sent, authorization) => {
    const body = await expectUnauthorized(method, path, authorization, INVALID_TOKEN);
    const message = expect.any(String);
    expect(body).toEqual({ code: 'invalid_api_key', message, status: 401 });
  });
});

describe.each(['/v1/pets?limit=0', '/v1/store/orders/abc'])('HEAD %s', (path) => {
  test.each(WITHOUT_KEY)('rejects %s', async (_sent, authorization) => {
    await expectUnauthorized('HEAD', path, authorization, CHALLENGE);
  });

  test.each(WITH_INVALID_KEY)('rejects %s', async (_sent, authorization) => {
    await expectUnauthorized('HEAD', path, authorization, INVALID_TOKEN);
  });
});

const ACCEPTED = { status: 200, challenge: null };
const rejectedWith = (code: string) => ({ status: 401, challenge: INVALID_TOKEN, code });

/** The response to a list with a key: its status, its challenge, and the code of an error. */
async function outcomeOf(key: string) {
  const { status, headers, body } = await store.fetch('/v1/pets', {
    headers: { authorization: `Bearer ${key}` },
  });
  const { code } = body as { code?: string };
  return { status, challenge: headers.get('www-authenticate'), ...(code && { code }) };
}

describe('an issued key', () => {
  test.each(['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  '])(
    'is accepted with the scheme %j',
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
    const expired = await store.issueKey({ expiresAt: past });
    expect(await outcomeOf(expired)).toEqual(rejectedWith('expired_api_key'));
    expect(await outcomeOf(await store.issueKey({ expiresAt: future }))).toEqual(ACCEPTED);
  });

  test('does not work after it was revoked, whether it has expired or not', async () => {
    const revokedAt = new Date().toISOString();
    for (const record of [{ revokedAt }, { revokedAt, expiresAt: revokedAt }]) {
      const key = await store.issueKey(record);
      expect(await outcomeOf(key)).toEqual(rejectedWith('revoked_api_key'));
    }
  });

  test('works in an isolate that rejected it before it was issued', async () => {
    const { API_KEYS } = await store.bindings();
    const key = generateKey('local');
    expect(await outcomeOf(key)).toEqual(rejectedWith('invalid_api_key'));
    await API_KEYS.put(
      await recordName(key),
      JSON.stringify({ id: 'late', label: 'x', createdAt: '2026-11-20T00:00:00Z', unknown: [1] }),
    );
    expect(await outcomeOf(key)).toEqual(ACCEPTED);
  });

  test.each(['{', '{}', '{"id":""}', '[]', '{"id":"x","label":"x","createdAt":"yesterday"}'])(
    'whose record is invalid is an internal error: %s',
    async (record) => {
      const key = generateKey('local');
      await (await store.bindings()).API_KEYS.put(await recordName(key), record);
      expect(await outcomeOf(key)).toEqual({
        status: 500,
        challenge: null,
        code: 'internal_error',
      });
    },
  );
});

test('unmatched routes, other methods and preflights need no key', async () => {
  const headers = { authorization: null };
  expect((await store.fetch('/v1/nothing', { headers })).status).toBe(404);
  expect((await store.fetch('/v1/pets', { method: 'DELETE', headers })).status).toBe(405);
  expect((await store.fetch('/v1/pets', { method: 'OPTIONS', headers })).status).toBe(204);
});
