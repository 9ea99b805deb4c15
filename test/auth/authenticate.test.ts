import { describe, expect, test, vi } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { parseRecord, recordName, stateOf } from '../../src/auth/keys/record.ts';
import { errorOf, operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const CHALLENGE = 'Bearer realm="animal-store"';
const INVALID_TOKEN = 'Bearer realm="animal-store", error="invalid_token"';
const CREATED = { id: 'key', label: 'x', createdAt: '2026-11-20T00:00:00Z' };

test.each([null, 'Basic dXNlcjpwYXNz', generateKey('local'), 'Bearer', 'Bearer '])(
  'the header %j has no key',
  async (authorization) => {
    const { headers, body } = await send('GET', '/v1/pets', undefined, { authorization });
    expect(headers.get('www-authenticate')).toBe(CHALLENGE);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(errorOf(body)).toBe(
      '401 missing_api_key: An API key is required: send the header Authorization: Bearer <API_KEY>.',
    );
  },
);

const MALFORMED = 'The API key is malformed. Check that it is complete.';

test.each([
  ['garbage', 'garbage', MALFORMED],
  ['two keys', `${generateKey('local')} ${generateKey('local')}`, MALFORMED],
  ['two credentials', `${generateKey('local')}, Bearer ${generateKey('local')}`, MALFORMED],
  ['a quoted key', `"${generateKey('local')}"`, MALFORMED],
  ['a key with another last character', `${generateKey('local').slice(0, -1)}~`, MALFORMED],
  ['a key with a wrong checksum', `animal_local_${'x'.repeat(36)}`, MALFORMED],
  ['a very long key', 'x'.repeat(8000), MALFORMED],
  ['a key that was never issued', generateKey('local'), 'Unknown API key.'],
  [
    'a key of another environment',
    generateKey('production'),
    'This API key is for the production environment; this is local.',
  ],
])('%s is invalid', async (_, key, message) => {
  const authorization = `Bearer ${key}`;
  const { headers, body } = await send('GET', '/v1/pets', undefined, { authorization });
  expect(headers.get('www-authenticate')).toBe(INVALID_TOKEN);
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(errorOf(body)).toBe(`401 invalid_api_key: ${message}`);
});

test.each(operations.map(({ method, path, operation }) => ({ method, path, operation })))(
  '$operation.operationId checks the key before anything else, if it needs one',
  async (each) => {
    const path = `${each.path.replace(/\{\w+\}/, 'abc')}?x=1`;
    const { status } = await send(each.method, path, undefined, { authorization: null });
    expect(status).toBe(each.operation.operationId === 'getHealth' ? 400 : 401);
  },
);

test('HEAD needs a key, as GET does', async () => {
  const { status, headers } = await send('HEAD', '/v1/pets', undefined, { authorization: null });
  expect([status, headers.get('www-authenticate')]).toEqual([401, CHALLENGE]);
});

test('unknown paths, unsupported methods and preflights need no key', async () => {
  const headers = { authorization: null };
  expect(await send('GET', '/v1/nothing', undefined, headers)).toMatchObject({ status: 404 });
  expect(await send('DELETE', '/v1/pets', undefined, headers)).toMatchObject({ status: 405 });
  expect(await send('OPTIONS', '/v1/pets', undefined, headers)).toMatchObject({ status: 204 });
});

describe('an issued key', () => {
  const list = (key: string, scheme = 'Bearer') =>
    store.fetch('/v1/pets', { headers: { authorization: `${scheme} ${key}` } });

  test.each(['Bearer', 'bearer', 'bEaReR', 'Bearer  '])(
    'works with the scheme %j',
    async (scheme) => {
      const { status, headers } = await list(await store.issueKey(), scheme);
      expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
      expect(headers.has('www-authenticate')).toBe(false);
    },
  );

  const PAST = '2026-11-20T00:00:00Z';

  test.each([
    ['expired', { expiresAt: PAST }, 'expired_api_key', `This API key expired at ${PAST}.`],
    [
      'revoked',
      { revokedAt: PAST, expiresAt: PAST },
      'revoked_api_key',
      'This API key was revoked.',
    ],
  ])('is rejected when it is %s', async (_, record, code, message) => {
    const { headers, body } = await list(await store.issueKey(record));
    expect(headers.get('www-authenticate')).toBe(INVALID_TOKEN);
    expect(body).toEqual({ code, message, status: 401 });
  });

  test('works in an isolate that rejected it before it was issued', async () => {
    const key = generateKey('local');
    expect(await list(key)).toMatchObject({ body: { code: 'invalid_api_key' } });
    const { API_KEYS } = await store.bindings();
    await API_KEYS.put(await recordName(key), JSON.stringify({ ...CREATED, unknown: [1] }));
    expect(await list(key)).toMatchObject({ status: 200 });
  });
});

test('a key is expired from the millisecond of its expiry on', () => {
  const record = { ...CREATED, expiresAt: '2026-11-20T12:00:00.000Z' };
  vi.setSystemTime('2026-11-20T11:59:59.999Z');
  const before = stateOf(record);
  vi.setSystemTime('2026-11-20T12:00:00.000Z');
  const then = stateOf(record);
  vi.useRealTimers();
  expect([before, then]).toEqual(['active', 'expired']);
});

test.each(['{', '{}', '[]', '{"id":""}', '{"id":"x","label":"x","createdAt":"yesterday"}'])(
  '%s is not a record of a key',
  (stored) => expect(() => parseRecord(stored)).toThrow('KV holds an invalid key record.'),
);
