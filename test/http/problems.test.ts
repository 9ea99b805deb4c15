/** One 400 names every problem of a request, such as a precondition. */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const ELSEWHERE =
  'petId: must be an integer from -9223372036854775808 to 9223372036854775807; limit: is not a known parameter; X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response; If-Match: is not supported, because responses have no ETag and no Last-Modified';

/** Sends a patch whose path, query and headers are invalid. */
function patch(body: string, headers: Record<string, string> = {}) {
  const invalid = { 'x-d1-bookmark': 'first', 'if-match': '*', ...headers };
  return send('PATCH', '/v1/pets/x?limit=1', body, invalid);
}

test('those of the path, the query, the headers and the body', async () => {
  expect((await patch('{"name":"","nmae":1}')).body).toEqual({
    code: 'invalid_request',
    message: `${ELSEWHERE}; name: must not be empty; nmae: is not a known field, did you mean name?`,
    status: 400,
  });
});

const fieldsOf = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, i) => [`field${i}`, i])));

const UNSUPPORTED =
  'The body must be JSON in UTF-8: send the header Content-Type: application/json.';

test.each([
  ['empty', '', {}, 'The body must not be empty.'],
  ['too large', ' '.repeat(17_000), {}, 'The body must be at most 16384 bytes.'],
  ['of 101 fields', fieldsOf(101), {}, 'The body must have at most 100 fields.'],
  ['not JSON', '{}', { 'content-type': 'text/plain' }, UNSUPPORTED],
])('that of a body that is %s', async (_, body, headers, problem) => {
  const reply = await patch(body, headers);
  expect(errorOf(reply.body)).toBe(`400 invalid_request: ${ELSEWHERE}; body: ${problem}`);
});

test('up to twenty, of all parts together, and the number of the others', async () => {
  const sixteen = Array.from({ length: 16 }, (_, i) => `field${i}: is not a known field`);
  const message = `${ELSEWHERE}; ${sixteen.join('; ')}; and 14 more`;
  expect((await patch(fieldsOf(30))).body).toMatchObject({ message });
});

// The service has no validators: RFC 9110, section 13.1.1.
test.each([
  ['PATCH', '/v1/pets/1', 'If-Match', '"1"'],
  ['DELETE', '/v1/pets/1', 'If-None-Match', '*'],
  ['PATCH', '/v1/store/orders/1', 'If-Unmodified-Since', 'Fri, 20 Nov 2026 00:00:00 GMT'],
])('a %s of %s with %s is a 400', async (method, path, name, value) => {
  const { body } = await send(method, path, '{"status":"sold"}', { [name]: value });
  expect(errorOf(body)).toContain(
    `${name}: is not supported, because responses have no ETag and no Last-Modified`,
  );
});

test('GET and POST ignore preconditions', async () => {
  const headers = { 'If-Match': '"1"', 'If-None-Match': '*' };
  expect((await store.create({ name: 'Ada', categoryId: 1 }, { headers })).status).toBe(201);
  expect((await store.fetch('/v1/pets/1', { headers })).status).toBe(200);
});
