import { expect, test, vi } from 'vitest';
import { generateKey } from '../../src/auth/key-format.ts';
import { parseRecord, stateOf } from '../../src/auth/key-record.ts';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);
const list = (authorization: string | null) =>
  send('GET', '/v1/pets', undefined, { authorization });

const CHALLENGE = 'Bearer realm="animal-store"';
const INVALID_TOKEN = 'Bearer realm="animal-store", error="invalid_token"';
const CREATED = { id: 'key', label: 'x', createdAt: '2026-11-20T00:00:00Z' };

test.each([null, 'Basic dXNlcjpwYXNz', generateKey('local'), 'Bearer', 'Bearer '])(
  'the header %j has no key',
  async (authorization) => {
    const { headers, body } = await list(authorization);
    expect(headers.get('www-authenticate')).toBe(CHALLENGE);
    expect(headers.get('cache-control')).toBe('private, no-store');
    expect(errorOf(body)).toBe(
      '401 missing_api_key: An API key is required: send the header Authorization: Bearer <API_KEY>.',
    );
  },
);

const MALFORMED = 'The API key is malformed. Check that it is complete.';
const FOREIGN = 'This API key is for the production environment; this is local.';
const PAST = '2026-11-20T00:00:00Z';
const EXPIRED = { expiresAt: PAST };

test.each([
  ['garbage', () => 'garbage', `401 invalid_api_key: ${MALFORMED}`],
  ['two keys', () => `${generateKey('local')} x`, `401 invalid_api_key: ${MALFORMED}`],
  ['an unknown key', () => generateKey('local'), '401 invalid_api_key: Unknown API key.'],
  ['a foreign key', () => generateKey('production'), `401 invalid_api_key: ${FOREIGN}`],
  [
    'an expired key',
    () => store.issueKey(EXPIRED),
    `401 expired_api_key: This API key expired at ${PAST}.`,
  ],
  [
    'a key that is revoked and expired',
    () => store.issueKey({ ...EXPIRED, revokedAt: PAST }),
    '401 revoked_api_key: This API key was revoked.',
  ],
])('%s is rejected', async (_, key, error) => {
  const { headers, body } = await list(`Bearer ${await key()}`);
  expect(headers.get('www-authenticate')).toBe(INVALID_TOKEN);
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(errorOf(body)).toBe(error);
});

test('unknown paths, unsupported methods and preflights need no key', async () => {
  const headers = { authorization: null };
  expect(await send('GET', '/v1/nothing', undefined, headers)).toMatchObject({ status: 404 });
  expect(await send('DELETE', '/v1/pets', undefined, headers)).toMatchObject({ status: 405 });
  expect(await send('OPTIONS', '/v1/pets', undefined, headers)).toMatchObject({ status: 204 });
});

test.each(['Bearer', 'bEaReR', 'Bearer  '])(
  'an issued key works with the scheme %j',
  async (scheme) => {
    const authorization = `${scheme} ${await store.issueKey()}`;
    const { status, headers } = await store.fetch('/v1/pets', { headers: { authorization } });
    expect([status, headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    expect(headers.has('www-authenticate')).toBe(false);
  },
);

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
