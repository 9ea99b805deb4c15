/** One 400 names every problem of a request. */
import { expect, test } from 'vitest';
import { errorOf } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

/** A request that reached D1 would be a 503. */
const send = startApp(startStore());

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
