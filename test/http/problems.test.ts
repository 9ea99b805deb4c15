/** The parts of a request are validated in order. The first invalid part is reported, with all its problems. */
import { expect, test } from 'vitest';
import { errorOf, operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const BOOKMARK =
  'X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';
const IF_MATCH = 'If-Match: is not supported, because responses have no ETag and no Last-Modified';
const PET_ID = 'petId: must be an integer from -9223372036854775808 to 9223372036854775807';
const KNOWN = 'name, categoryId, status';

test.each([
  { part: 'query', path: '/v1/pets/x?limit=1', message: 'limit: is not a known parameter' },
  { part: 'headers', path: '/v1/pets/x', message: `${BOOKMARK}; ${IF_MATCH}` },
  { part: 'path', path: '/v1/pets/x', bookmark: null, message: PET_ID },
  {
    ...{ part: 'body', path: '/v1/pets/1', bookmark: null },
    message: `name: must not be empty; nmae: is not a known field: ${KNOWN}`,
  },
])('updatePet reports an invalid $part before later parts', async (each) => {
  const { path, bookmark = 'first', message } = each;
  const headers = { 'x-d1-bookmark': bookmark, 'if-match': bookmark };
  const { body } = await send('PATCH', path, '{"name":"","nmae":1}', headers);
  expect(errorOf(body)).toBe(`400 invalid_request: ${message}`);
});

const withoutQuery = operations.filter(
  ({ operation }) => !operation.parameters?.some((parameter) => parameter.in === 'query'),
);

test.each(withoutQuery)('$operation.operationId accepts no query', async ({ method, path }) => {
  const { body } = await send(method, `${path.replace(/\{\w+\}/, '1')}?x=1&y=&x=2`);
  const message = 'x: is not a known parameter; y: is not a known parameter';
  expect(errorOf(body)).toBe(`400 invalid_request: ${message}`);
});

test('a message has at most twenty problems, and the number of the others', async () => {
  const fields = Array.from({ length: 30 }, (_, i) => `field${i}`);
  const body = JSON.stringify(Object.fromEntries(fields.map((name) => [name, 1])));
  const shown = fields.slice(0, 18).map((name) => `${name}: is not a known field: ${KNOWN}`);
  const problems = ['name: is required', 'categoryId: is required', ...shown];
  expect((await send('POST', '/v1/pets', body)).body).toMatchObject({
    message: `${problems.join('; ')}; and 12 more`,
  });
});

// The service has no validators: RFC 9110, section 13.1.1.
test.each([
  ['PATCH', '/v1/pets/1', 'If-Match', '"1"'],
  ['DELETE', '/v1/pets/1', 'If-None-Match', '*'],
  ['PATCH', '/v1/store/orders/1', 'If-Unmodified-Since', 'Fri, 20 Nov 2026 00:00:00 GMT'],
])('a %s of %s with %s is a 400', async (method, path, name, value) => {
  const { body } = await send(method, path, '{"status":"sold"}', { [name]: value });
  expect(errorOf(body)).toBe(
    `400 invalid_request: ${name}: is not supported, because responses have no ETag and no Last-Modified`,
  );
});

test('GET and POST ignore preconditions', async () => {
  const headers = { 'If-Match': '"1"', 'If-None-Match': '*' };
  expect((await store.create({ name: 'Ada', categoryId: 1 }, { headers })).status).toBe(201);
  expect((await store.fetch('/v1/pets/1', { headers })).status).toBe(200);
});
