/** Which API keys are accepted. test/every-operation.test.ts has the scopes. */
import { expect, test } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { parseRecord, recordName, scopesOf, stateOf } from '../../src/auth/key-record.ts';
import { stopTime } from '../support/in-process.ts';
import { expectError, startStore } from '../support/store.ts';
import { RECORD } from '../support/stubs.ts';

const store = startStore();
const list = (authorization: string | null) =>
  store.fetch('/v1/pets', { headers: { authorization } });

const REQUIRED = 'An API key is required: send the header Authorization: Bearer <API_KEY>';

test.each([
  [null, '.'],
  ['Bearer', '.'],
  ['Abcdefghijklmnopqrst dXNlcjpwYXNz', ', not Abcdefghijklmnopqrst.'],
  // Not a scheme, but perhaps a secret.
  ['animal_local_1 and more', '.'],
  ['a-secret and more', '.'],
  ['abcdefghijklmnopqrstu and more', '.'],
  ['dXNlcjpwYXNz', '.'],
])('a request with the header %j is a 401 that asks for a key', async (authorization, end) => {
  const reply = await list(authorization);
  expectError(reply, 401, 'missing_api_key', REQUIRED + end);
  expect(reply.headers.get('www-authenticate')).toBe('Bearer realm="animal-store"');
});

const KEY = generateKey('local');
const PAST = '2026-11-19T12:00:00.5Z';
const MALFORMED =
  'The API key is malformed. It must be complete, and nothing else may be there, such as quotes.';

/** The last column is the key, or its record. */
test.each([
  ...[`"${KEY}"`, `${KEY}\u00a0`, `Bearer ${KEY}`, `\t${KEY}`].map(
    (key) => ['invalid', MALFORMED, key] as const,
  ),
  [
    'invalid',
    'This API key is for the production environment; this is local.',
    generateKey('production'),
  ],
  ['invalid', 'Unknown API key. npm start sets the local store and its key up.', KEY],
  ['expired', 'This API key expired at 2026-11-19T12:00:00.5Z.', { expiresAt: PAST }],
  // Also if it has expired, and by a clock that is fast.
  ['revoked', 'This API key was revoked.', { expiresAt: PAST, revokedAt: '2999-01-01T00:00:00Z' }],
] as const)('the code %s_api_key says why: %s', async (code, message, given) => {
  const key = typeof given === 'string' ? given : await store.issueKey(given);
  const reply = await list(`Bearer ${key}`);
  expectError(reply, 401, `${code}_api_key`, message);
  const challenge = 'Bearer realm="animal-store", error="invalid_token"';
  expect(reply.headers.get('www-authenticate')).toBe(challenge);
});

test('an issued key works, with the scheme in any case and more spaces', async () => {
  const headers = { authorization: `bEaReR   ${await store.issueKey()}` };
  expect((await store.fetch('/v1/pets', { headers })).status).toBe(200);
});

test('a key is expired from the millisecond of its expiry on', () => {
  stopTime(Date.parse('2026-11-20T12:00:00.000Z'));
  expect(stateOf({ ...RECORD, expiresAt: '2026-11-20T12:00:00.001Z' })).toBe('active');
  expect(stateOf({ ...RECORD, expiresAt: '2026-11-20T12:00:00.000Z' })).toBe('expired');
});

test('a record may have null for what it lacks, and unknown fields', () => {
  const record = {
    ...RECORD,
    createdAt: '2026-11-20T00:00Z',
    expiresAt: null,
    revokedAt: null,
    family: null,
    unknown: 1,
  };
  expect(stateOf(parseRecord(JSON.stringify(record)))).toBe('active');
});

test.each([
  ...[
    { id: '' },
    { label: null },
    { family: '' },
    { createdAt: null },
    { createdAt: '+002026-11-20T00:00:00Z' },
  ],
  { revokedAt: 'yes' },
  ...[{ expiresAt: '2026-13-45T00:00:00Z' }, { expiresAt: '2026-11-20T00:00:00' }],
])('a record of KV with %j is a mistake, not a key', (field) => {
  const stored = JSON.stringify({ ...RECORD, ...field });
  expect(() => parseRecord(stored)).toThrow(new Error('KV holds an invalid key record.'));
});

test('KV has a record under the SHA-256 of the whole key', async () => {
  // The example of FIPS 180.
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(await recordName('abc')).toBe(`key:${hash}`);
});

test.each([
  [{ scopes: ['read', 'admin'] }, ['read']],
  [{ scopes: ['write'] }, ['write']],
  [{ scopes: ['READ', 'WRITE'] }, []],
  // Not understood, so not a licence to write.
  [{ scopes: null }, ['read']],
  [{ scopes: 'write' }, ['read']],
  [{ scopes: ['read', 'write'], scope: 'read' }, ['read']],
  [{ scope: null }, ['read']],
])('a key with %j has the scopes %j', (restriction, scopes) => {
  const record = parseRecord(JSON.stringify({ ...RECORD, ...restriction }));
  expect(scopesOf(record)).toEqual(scopes);
});
