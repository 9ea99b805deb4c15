import { expect, test } from 'vitest';
import { startStore } from '../store.ts';

const store = startStore();

const INVALID_PATCH = '{"name":"","nmae":1}';

function patch(headers: Record<string, string | null>, body = INVALID_PATCH) {
  return store.send('PATCH', '/v1/pets/x?limit=1', body, {
    headers: { 'x-d1-bookmark': 'first', ...headers },
  });
}

const ELSEWHERE =
  'petId: must be an integer from -9223372036854775808 to 9223372036854775807; limit: is not a known parameter; X-D1-Bookmark: must be first-unconstrained, first-primary, or a bookmark from an earlier response';

test('one message names the problems of path, query, headers and body', async () => {
  const reply = await patch({});
  expect([reply.status, reply.body]).toEqual([
    400,
    {
      code: 'invalid_request',
      message: `${ELSEWHERE}; name: must not be empty; nmae: is not a known field, did you mean name?`,
      status: 400,
    },
  ]);
});

test('an invalid idempotency key is named with the problems of the body', async () => {
  const headers = { 'idempotency-key': 'é' };
  const reply = await store.send('POST', '/v1/pets?x', { name: 'Rex' }, { headers });
  expect(reply.body).toMatchObject({
    code: 'invalid_request',
    message:
      'x: is not a known parameter; Idempotency-Key: must be 1 to 255 printable ASCII characters; categoryId: is required',
  });
});

test.each([
  [
    'of another media type',
    { 'content-type': 'text/plain' },
    INVALID_PATCH,
    'The body must be JSON in UTF-8: send the header Content-Type: application/json.',
  ],
  [
    'that is compressed',
    { 'content-encoding': 'gzip' },
    INVALID_PATCH,
    'The body must not be compressed: leave out the header Content-Encoding.',
  ],
  ['that is too large', {}, ' '.repeat(17_000), 'The body must be at most 16384 bytes.'],
  ['that is empty', {}, '', 'The body must not be empty.'],
])('a body %s is named beside the other problems', async (_, headers, body, problem) => {
  const reply = await patch(headers, body);
  expect(reply.body).toMatchObject({
    code: 'invalid_request',
    message: `${ELSEWHERE}; body: ${problem}`,
  });
});

test('a message lists twenty problems of all parts together, and counts the others', async () => {
  const fields = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`field${i}`, i]));
  const reply = await patch({}, JSON.stringify(fields));
  const message = (reply.body as { message: string }).message;
  expect(message).toMatch(/^petId: .*; limit: .*; X-D1-Bookmark: .*; field16: [^;]+; and 13 more$/);
});

test('a request without a key is rejected before anything else is validated', async () => {
  const reply = await patch({ authorization: null });
  expect(reply.body).toMatchObject({ code: 'missing_api_key' });
});

test.each(['/health', '/v1/health'])('%s accepts no query parameters', async (path) => {
  const reply = await store.fetch(`${path}?x=1`, { headers: { authorization: null } });
  expect(reply.body).toEqual({
    code: 'invalid_request',
    message: 'x: is not a known parameter',
    status: 400,
  });
});
