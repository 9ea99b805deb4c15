/**
 * The parts of a request are validated in order. The first invalid part is reported, with all its
 * problems.
 */
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { invalidPart, MAX_PROBLEMS } from '../../src/http/problems.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { startApp } from '../support/in-process.ts';
import { expectError, startStore } from '../support/store.ts';

const store = startStore({ faults: true });
const sendWithoutD1 = startApp(store);

// Paths are exact.
test.each([
  ...['/v1', '/pets', '/v1/pets/1/owner', '/v1/pets/', '/v1/pets/1/', '/v1//pets', '//v1/pets'],
  ...['/v1/Pets', '/V1/pets', '/v1/pets%2F1', '/v1/%pets', '/%ff', '/%ff/v1/pets'],
])('%s is not found, and needs no key', async (path) => {
  const reply = await store.fetch(path, { key: null });
  expectError(reply, 404, 'not_found');
});

test('an escape in a path counts as its character', async () => {
  const reply = await sendWithoutD1('GET', '/%761/pets/%78');
  expectError(reply, 400, 'invalid_request', expect.stringMatching(/^petId: /));
  expect((await store.fetch('/v1/%68ealth', { key: null })).status).toBe(200);
});

test.each([
  ['/v1/pets', 'GET, HEAD, POST', 'PROPFIND'],
  ['/v1/pets/1', 'GET, HEAD, PATCH, DELETE', 'POST'],
])('%s accepts %s, and needs no key to reject %s', async (path, methods, method) => {
  const reply = await store.fetch(path, { method, key: null });
  expectError(reply, 405, 'method_not_allowed', expect.stringContaining(methods));
  expect(reply.headers.get('allow')).toBe(`${methods}, OPTIONS`);
});

test('a problem in a list names the element', () => {
  const { error } = z.object({ tags: z.array(z.string()) }).safeParse({ tags: ['young', 3] });
  expect(error && invalidPart(error).message).toMatch(/^tags\.1: /);
});

const IN_TEXT = expect.stringMatching(/^query: /);
const LONGEST = `/v1/pets/1?${'x'.repeat(MAX_QUERY_LENGTH)}`;

test.each([
  ['a broken escape', '/v1/pets?limit=1&x=%', 'query: must be percent-encoded UTF-8'],
  ['not UTF-8', '/health?%ff', IN_TEXT],
  ['no name', '/v1/pets?=1', 'query: every parameter must have a name'],
  ['no second name', '/v1/pets/1?limit=5&=1', IN_TEXT],
  ['unknown to a public operation', '/v1/health?x=1', expect.stringMatching(/^x: /)],
  ['the longest, read', LONGEST, expect.stringMatching(/^x{64}…: /)],
  ['one character more', `${LONGEST}x`, `query: must be at most ${MAX_QUERY_LENGTH} characters`],
])('an invalid query is a 400 that says why: %s', async (_, path, message) => {
  expectError(await sendWithoutD1('GET', path), 400, 'invalid_request', message);
});

const INVALID = { 'x-d1-bookmark': 'first', 'if-match': '*', 'content-type': 'text/plain' };
const KEYLESS = { ...INVALID, authorization: null };
const TOO_LARGE = 'x'.repeat(MAX_BODY_BYTES + 1);

test.each([
  { part: 'key', path: 'x?x=1&%', headers: KEYLESS, message: /API.key/i },
  { part: 'text of the query', path: 'x?x=1&%', headers: INVALID, message: /^query: / },
  {
    part: 'headers',
    path: 'x?x=1',
    headers: INVALID,
    message: /^X-D1-Bookmark: must be [^;]+; If-Match: is not supported[^;]+$/,
  },
  { part: 'path', path: 'x?x=1', message: /^petId: [^;]+$/ },
  { part: 'query', path: '1?x=1&y=&x=2', message: /^x: is not a known parameter; y: [^;]+$/ },
  {
    part: 'media type',
    path: '1',
    headers: { 'content-type': 'text/plain' },
    message: /Content-T/,
  },
  { part: 'size', path: '1', message: /bytes/ },
  { part: 'JSON', path: '1', body: '{"name":"",', message: /JSON/ },
  { part: 'body', path: '1', body: '{"name":"","nmae":1}', message: /^name: .+; nmae: / },
])('updatePet, with all later parts invalid, reports its $part', async (each) => {
  const { path, headers, message, body = TOO_LARGE } = each;
  const reply = await sendWithoutD1('PATCH', `/v1/pets/${path}`, body, headers);
  expect(Object(reply.body).message).toMatch(message);
});

test('a message has the first MAX_PROBLEMS, and counts the others', async () => {
  const send = async (count: number) => {
    // With long names, it is the longest message.
    const fields = Array.from({ length: count }, (_, i) => [`${i}`.padEnd(65), 1]);
    const sent = JSON.stringify(Object.fromEntries(fields));
    const { body } = await sendWithoutD1('PATCH', '/v1/pets/1', sent);
    return Object(body).message.split('; ');
  };
  expect(await send(MAX_PROBLEMS)).toHaveLength(MAX_PROBLEMS);
  const problems = await send(MAX_PROBLEMS + 2);
  expect(problems).toHaveLength(MAX_PROBLEMS + 1);
  expect(problems.at(-1)).toBe('and 2 more');
});

// Responses have no ETag: RFC 9110, sections 13.1.1 and 13.1.2.
test.each([
  ['PATCH', '{"name":"Eve"}', 'If-Match'],
  ['DELETE', undefined, 'If-Match'],
  ['DELETE', undefined, 'If-None-Match'],
])('a %s with the body %s and %s is a 400', async (method, body, header) => {
  const reply = await sendWithoutD1(method, '/v1/pets/1', body, { [header]: '*' });
  const message = expect.stringMatching(`^${header}: `);
  expectError(reply, 400, 'invalid_request', message);
});

// An accepted request reaches D1, which is not there. Resources have no modification date: RFC
// 9110, section 13.1.4.
test.each([
  ['GET', '/v1/pets/1', undefined, 'If-None-Match'],
  ['POST', '/v1/pets', '{"name":"Ada","categoryId":1}', 'If-Match'],
  ['PATCH', '/v1/pets/1', '{"name":"Eve"}', 'If-Unmodified-Since'],
])('%s %s with the body %s ignores %s', async (method, path, body, header) => {
  const reply = await sendWithoutD1(method, path, body, { [header]: '*' });
  expect(reply.status).toBe(503);
});

test('a local store without migrations is a 503 that says how to start it', async () => {
  await store.fault({ d1: [{ text: 'D1_ERROR: no such table: pets: SQLITE_ERROR' }] });
  const message = 'The store lacks a migration. Restart it: npm start';
  expectError(await store.fetch('/v1/pets'), 503, 'service_unavailable', message);
});
