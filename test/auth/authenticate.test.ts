import { expect, test } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { parseRecord, recordName, scopesOf, stateOf } from '../../src/auth/key-record.ts';
import { errorOf, operations } from '../support/contract.ts';
import { startApp, stopTime } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const sendWithoutD1 = startApp(store);
const list = (authorization: string | null) =>
  sendWithoutD1('GET', '/v1/pets', undefined, { authorization });

const REQUIRED =
  '401 missing_api_key: An API key is required: send the header Authorization: Bearer <API_KEY>';

test.each([
  [null, '.'],
  ['Bearer', '.'],
  ['Basic dXNlcjpwYXNz', ', not Basic.'],
  // Not a scheme, but perhaps a secret.
  ['animal_local_1 and more', '.'],
  ['correcthorsebatterystaple xkcd', '.'],
  ['dXNlcjpwYXNz', '.'],
])('a request with the header %j is a 401 that asks for a key', async (authorization, end) => {
  const { headers, body } = await list(authorization);
  expect(headers.get('www-authenticate')).toBe('Bearer realm="animal-store"');
  expect(errorOf(body)).toBe(`${REQUIRED}${end}`);
});

const MALFORMED =
  '401 invalid_api_key: The API key is malformed. It must be complete, and nothing else may be there, such as quotes.';
const FOREIGN =
  '401 invalid_api_key: This API key is for the production environment; this is local.';
const UNKNOWN =
  '401 invalid_api_key: Unknown API key. npm start sets the local store and its key up.';
const PAST = '2026-11-19T12:00:00Z';
const EXPIRED = `401 expired_api_key: This API key expired at ${PAST}.`;
const REVOKED = '401 revoked_api_key: This API key was revoked.';

test.each([
  ['a key in quotes', () => `"${generateKey('local')}"`, MALFORMED],
  ['a key before a no-break space', () => `${generateKey('local')}\u00a0`, MALFORMED],
  ['a key after a second scheme', () => `Bearer ${generateKey('local')}`, MALFORMED],
  ['a key after a tab', () => `\t${generateKey('local')}`, MALFORMED],
  ['an unknown key', () => generateKey('local'), UNKNOWN],
  ['a foreign key', () => generateKey('production'), FOREIGN],
  ['an expired key', () => store.issueKey({ expiresAt: PAST }), EXPIRED],
  ['a revoked key', () => store.issueKey({ expiresAt: PAST, revokedAt: PAST }), REVOKED],
])('%s is a 401 that says why', async (_, key, error) => {
  const { headers, body } = await list(`Bearer ${await key()}`);
  expect(headers.get('www-authenticate')).toBe(
    'Bearer realm="animal-store", error="invalid_token"',
  );
  expect(headers.get('cache-control')).toBe('private, no-store');
  expect(errorOf(body)).toBe(error);
});

test('an issued key works, with the scheme in any case and more spaces', async () => {
  const headers = { authorization: `bEaReR   ${await store.issueKey()}` };
  const reply = await store.fetch('/v1/pets', { headers });
  expect([reply.status, reply.headers.has('www-authenticate')]).toEqual([200, false]);
});

const VALID = { id: 'key', label: 'x', createdAt: '2026-11-20T00:00:00Z' };

test('a key is expired from the millisecond of its expiry on', () => {
  stopTime(Date.parse('2026-11-20T12:00:00.000Z'));
  expect(stateOf({ ...VALID, expiresAt: '2026-11-20T12:00:00.001Z' })).toBe('active');
  expect(stateOf({ ...VALID, expiresAt: '2026-11-20T12:00:00.000Z' })).toBe('expired');
});

test('a record may have null for what it lacks, and unknown fields', () => {
  const record = { ...VALID, expiresAt: null, revokedAt: null, family: null, unknown: 1 };
  expect(stateOf(parseRecord(JSON.stringify(record)))).toBe('active');
});

test.each([
  ...[{ id: '' }, { label: 7 }, { family: '' }, { createdAt: 'yesterday' }, { revokedAt: 'yes' }],
  ...[{ expiresAt: '2026-13-45T00:00:00Z' }, { expiresAt: '2026-11-20T00:00:00' }],
])('a record of KV with %j is a mistake, not a key', (field) => {
  const stored = JSON.stringify({ ...VALID, ...field });
  expect(() => parseRecord(stored)).toThrow('KV holds an invalid key record.');
});

test('KV has a record under the SHA-256 of the whole key', async () => {
  // The example of FIPS 180.
  const hash = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
  expect(await recordName('abc')).toBe(`key:${hash}`);
});

// RFC 6750, section 3.1.
test.each(operations.filter(({ operation }) => operation.security === undefined))(
  '$operation.operationId needs its scope before it is validated',
  async ({ method, examplePath }) => {
    const [scope, other] = method === 'GET' ? ['read', 'write'] : ['write', 'read'];
    const authorization = `Bearer ${await store.issueKey({ scopes: [other] })}`;
    const path = `${examplePath}?x=1`;
    const { headers, body } = await sendWithoutD1(method, path, undefined, { authorization });
    expect(errorOf(body)).toBe(
      `403 insufficient_scope: This API key does not have the scope ${scope}.`,
    );
    expect(headers.get('www-authenticate')).toContain(`scope="${scope}"`);
  },
);

test.each([
  { restriction: { scopes: ['read', 'admin'] }, scopes: ['read'] },
  { restriction: { scopes: ['write'] }, scopes: ['write'] },
  { restriction: { scopes: [] }, scopes: [] },
  { restriction: { scopes: ['READ', 'WRITE'] }, scopes: [] },
  // Not understood, so not a licence to write.
  { restriction: { scopes: null }, scopes: ['read'] },
  { restriction: { scopes: 'write' }, scopes: ['read'] },
  { restriction: { scopes: ['read', 'write'], scope: 'read' }, scopes: ['read'] },
  { restriction: { scope: ['read'] }, scopes: ['read'] },
])('a key with $restriction has the scopes $scopes', ({ restriction, scopes }) => {
  const record = parseRecord(JSON.stringify({ ...VALID, ...restriction }));
  expect(scopesOf(record)).toEqual(scopes);
});
