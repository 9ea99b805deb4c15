/**
 * The parts of a request are validated in order. The first invalid part is reported, with all its
 * problems.
 */
import { expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { invalidRequest, MAX_PROBLEMS } from '../../src/http/problems.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { sendWithoutD1 } from '../support/in-process.ts';
import { expectError, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore();

// Paths are exact.
test.each([
  ...['/v1', '/pets', '/v1/pets/1/owner', '/v1/pets/', '/v1/pets/1/', '/v1//pets', '//v1/pets'],
  ...['/v1/Pets', '/V1/pets', '/v1/pets%2F1', '/v1/%pets', '/%ff', '/%ff/v1/pets'],
])('%s is not found, and needs no key', async (path) => {
  const reply = await store.fetch(path, { key: null });
  expectError(reply, 404, 'not_found', 'Path not found.');
});

const NO_INT64 = 'petId: must be an integer from -9223372036854775808 to 9223372036854775807';

test('an escape in a path counts as its character', async () => {
  expectError(await sendWithoutD1('GET', '/%761/pets/%78'), 400, 'invalid_request', NO_INT64);
  expect((await store.fetch('/v1/%68ealth', { key: null })).status).toBe(200);
});

test.each([
  ['/v1/pets', 'GET, HEAD, POST', 'PROPFIND'],
  ['/v1/pets/1', 'GET, HEAD, PATCH, DELETE', 'POST'],
])('%s accepts %s, and needs no key to reject %s', async (path, methods, method) => {
  const reply = await store.fetch(path, { method, key: null });
  expectError(reply, 405, 'method_not_allowed', `This path accepts ${methods}.`);
  expect(reply.headers.get('allow')).toBe(`${methods}, OPTIONS`);
});

const BROKEN = 'query: must be percent-encoded UTF-8';
const NAMELESS = 'query: every parameter must have a name';
const LONGEST = `/v1/pets/1?${'x'.repeat(MAX_QUERY_LENGTH)}`;

test.each([
  ['a broken escape', '/v1/pets?limit=1&x=%', BROKEN],
  ['not UTF-8', '/health?%ff', BROKEN],
  ['no name', '/v1/pets?=1', NAMELESS],
  ['no second name', '/v1/pets/1?limit=5&=1', NAMELESS],
  ['unknown to a public operation', '/v1/health?x=1', 'x: is not a known parameter'],
  ['the longest, read', LONGEST, `${'x'.repeat(64)}…: is not a known parameter`],
  ['one character more', `${LONGEST}x`, 'query: must be at most 2048 characters'],
  [
    'no ASCII in a header',
    '/v1/pets',
    'Idempotency-Key: must be 1 to 255 printable ASCII characters',
    'aéa',
  ],
  [
    'two headers',
    '/v1/pets',
    'Idempotency-Key: must be given only once, and must not contain a comma followed by a space',
    'a, b',
  ],
])(
  'an invalid query or key is a 400 that says why: %s',
  async (_, path, message, key: string | null = null) => {
    const method = key ? 'POST' : 'GET';
    const reply = await sendWithoutD1(method, path, null, { 'idempotency-key': key });
    expectError(reply, 400, 'invalid_request', message);
  },
);

const INVALID = { 'x-d1-bookmark': 'first', 'if-match': '*', 'content-type': 'text/plain' };
const TOO_LARGE = 'x'.repeat(MAX_BODY_BYTES + 1);

test.each([
  [
    'key',
    'x?x=1&%',
    'An API key is required: send the header Authorization: Bearer <API_KEY>.',
    { ...INVALID, authorization: null },
  ],
  ['text of the query', 'x?x=1&%', BROKEN, INVALID],
  [
    'headers',
    'x?x=1',
    'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response; If-Match: is not supported, because responses have no ETag',
    INVALID,
  ],
  ['path', 'x?x=1', NO_INT64],
  ['query', '1?x=1&y=&x=2', 'x: is not a known parameter; y: is not a known parameter'],
  [
    'media type',
    '1',
    'The body must be JSON in UTF-8: send the header Content-Type: application/json once, with no parameter but charset=utf-8.',
    { 'content-type': 'text/plain' },
  ],
  ['size', '1', 'The body must be at most 16384 bytes.'],
  ['JSON', '1', 'The body must be valid JSON: Unexpected end of JSON input', {}, '{"name":'],
  [
    'body',
    '1',
    'name: must not be empty; nmae: is not a known field: name, categoryId, status',
    {},
    '{"name":"","nmae":1}',
  ],
])(
  'updatePet, with all later parts invalid, reports its %s',
  async (_, path, message, headers = {}, body = TOO_LARGE) => {
    const reply = await sendWithoutD1('PATCH', `/v1/pets/${path}`, body, headers);
    expect(reply.body).toMatchObject({ message });
  },
);

test('a message has the first MAX_PROBLEMS, and counts the others', async () => {
  // With long names, it is the longest message.
  const fields = Array.from({ length: MAX_PROBLEMS + 2 }, (_, i) => [`${i}`.padEnd(65), 1]);
  const sent = JSON.stringify(Object.fromEntries(fields));
  const { body } = await sendWithoutD1('PATCH', '/v1/pets/1', sent);
  const problems = Object(body).message.split('; ');
  expect(problems).toHaveLength(MAX_PROBLEMS + 1);
  const all = problems.splice(0, MAX_PROBLEMS);
  expect(problems).toEqual(['and 2 more']);
  expect(invalidRequest(all).message).toBe(all.join('; '));
});

// Responses have no ETag, and resources no modification date: RFC 9110, section 13.1. An accepted
// request reaches D1, which is not there.
test.each([
  ['PATCH', '/v1/pets/1', '{"name":"Eve"}', 'If-Match', 400],
  ['DELETE', '/v1/pets/1', undefined, 'If-Match', 400],
  ['DELETE', '/v1/pets/1', undefined, 'If-None-Match', 400],
  ['PATCH', '/v1/pets/1', '{"name":"Eve"}', 'If-Unmodified-Since', 503],
  ['GET', '/v1/pets/1', undefined, 'If-None-Match', 503],
  ['POST', '/v1/pets', '{"name":"Ada","categoryId":1}', 'If-Match', 503],
])('%s %s with the body %s and %s is a %i', async (method, path, body, header, status) => {
  expect((await sendWithoutD1(method, path, body, { [header]: '*' })).status).toBe(status);
});

test('a local store without migrations is a 503 that says how to start it', async () => {
  await store.fault({ d1: [{ text: 'D1_ERROR: no such table: pets: SQLITE_ERROR' }] });
  const message = 'The store lacks a migration. Restart it: npm start';
  expectError(await store.fetch('/v1/pets'), 503, 'service_unavailable', message);
});
