/** The parts of a request are validated in order. The first invalid part is reported, with all its problems. */
import { expect, test } from 'vitest';
import { MAX_PROBLEMS } from '../../src/http/problems.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { NewPet } from '../../src/pets/schemas.ts';
import { errorOf, INT64, operations } from '../support/contract.ts';
import { startApp } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const sendWithoutD1 = startApp(store);

// Paths are exact.
test.each([
  ...['/v1', '/pets', '/v1/pets/1/owner', '/v1/pets/', '/v1/pets/1/', '/v1//pets', '//v1/pets'],
  ...['/v1/Pets', '/V1/pets', '/v1/pets%2F1', '/v1/%pets', '/%ff', '/%ff/v1/pets'],
])('%s is not found, and needs no key', async (path) => {
  const { body } = await store.fetch(path, { key: null });
  expect(body).toMatchObject({ code: 'not_found' });
});

test('the message for an unknown path names no part of it', async () => {
  const { body } = await sendWithoutD1('GET', '/v1/toys');
  expect(errorOf(body)).toBe('404 not_found: Path not found.');
});

test('an escape in a path counts as its character', async () => {
  const { body } = await sendWithoutD1('GET', '/%761/pets/%78');
  expect(errorOf(body)).toBe(`400 invalid_request: petId: ${INT64}`);
  expect((await store.fetch('/v1/%68ealth', { key: null })).status).toBe(200);
});

const NOT_DECODABLE = 'query: must be percent-encoded UTF-8';
const NAMELESS = 'query: every parameter must have a name';
const LONGEST = `/v1/pets/1?${'x'.repeat(MAX_QUERY_LENGTH)}`;

test.each([
  ['a broken escape', '/v1/pets?limit=1&x=%', NOT_DECODABLE],
  ['not UTF-8', '/health?%ff', NOT_DECODABLE],
  ['no name', '/v1/pets?=1', NAMELESS],
  ['no second name', '/v1/pets/1?limit=5&=1', NAMELESS],
  ['the longest, read', LONGEST, `${'x'.repeat(64)}…: is not a known parameter`],
  [
    'one character more, not read',
    `${LONGEST}x`,
    `query: must be at most ${MAX_QUERY_LENGTH} characters`,
  ],
])('an invalid query is a 400 that says why: %s', async (_, path, message) => {
  expect(errorOf((await sendWithoutD1('GET', path)).body)).toBe(`400 invalid_request: ${message}`);
});

test.each(operations)('$operation.operationId rejects an unknown parameter', async (each) => {
  const { body } = await sendWithoutD1(each.method, `${each.examplePath}?x=1`);
  expect(errorOf(body)).toMatch(/^400 invalid_request: x: is not a known parameter/);
});

const UNSUPPORTED = 'is not supported, because responses have no ETag';
const KNOWN = Object.keys(NewPet.shape).join(', ');
const PARAMETERS = 'x: is not a known parameter; y: is not a known parameter';
const FIELDS = `name: must not be empty; nmae: is not a known field: ${KNOWN}`;
const INVALID = { 'if-none-match': '*', 'if-match': '*' };
const HEADERS = `If-Match: ${UNSUPPORTED}; If-None-Match: ${UNSUPPORTED}`;

const KEYLESS = { ...INVALID, authorization: null };

test.each([
  { part: 'key', path: '/v1/pets/x?x=1&%', headers: KEYLESS, message: 'An API key is required' },
  { part: 'text of the query', path: '/v1/pets/x?x=1&%', headers: INVALID, message: NOT_DECODABLE },
  { part: 'headers', path: '/v1/pets/x?x=1', headers: INVALID, message: HEADERS },
  { part: 'path', path: '/v1/pets/x?x=1', message: `petId: ${INT64}` },
  { part: 'query', path: '/v1/pets/1?x=1&y=&x=2', message: PARAMETERS },
  { part: 'body', path: '/v1/pets/1', message: FIELDS },
])('updatePet, with all later parts invalid, reports its $part', async (each) => {
  const { path, headers, message } = each;
  const { body } = await sendWithoutD1('PATCH', path, '{"name":"","nmae":1}', headers);
  expect(errorOf(body)).toContain(`: ${message}`);
});

test.each([
  [0, []],
  [2, ['and 2 more']],
])(
  'of MAX_PROBLEMS and %i more, a message has the first, and counts the others',
  async (more, end) => {
    const fields = Array.from({ length: MAX_PROBLEMS + more }, (_, i) => `x${i}`);
    const members = fields.map((field) => `"${field}":1`);
    const { body } = await sendWithoutD1('PATCH', '/v1/pets/1', `{${members}}`);
    const shown = fields
      .slice(0, MAX_PROBLEMS)
      .map((field) => `${field}: is not a known field: ${KNOWN}`);
    expect(errorOf(body)).toBe(`400 invalid_request: ${[...shown, ...end].join('; ')}`);
  },
);

// Responses have no ETag: RFC 9110, sections 13.1.1 and 13.1.2. A PATCH with If-Match is above.
test('a DELETE with If-None-Match is a 400', async () => {
  const headers = { 'If-None-Match': '*' };
  const { body } = await sendWithoutD1('DELETE', '/v1/pets/1', undefined, headers);
  expect(errorOf(body)).toBe(`400 invalid_request: If-None-Match: ${UNSUPPORTED}`);
});

// An accepted request reaches D1, which is not there. Resources have no modification date: RFC 9110, section 13.1.4.
test.each([
  ['GET', '/v1/pets/1', undefined, { 'If-None-Match': '*' }],
  ['POST', '/v1/pets', '{"name":"Ada","categoryId":1}', { 'If-Match': '"1"' }],
  [
    'PATCH',
    '/v1/pets/1',
    '{"name":"Eve"}',
    { 'If-Unmodified-Since': 'Fri, 20 Nov 2026 00:00:00 GMT' },
  ],
])('%s %s ignores a precondition', async (method, path, body, headers) => {
  expect((await sendWithoutD1(method, path, body, headers)).status).toBe(503);
});
