import { expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { errorOf } from '../support/contract.ts';
import { startApp } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const sendWithoutD1 = startApp(store);

const BODY = '{"name":"Rex","categoryId":1}';
const NOT_JSON = 'The body must be valid JSON.';

test.each([
  ['empty', '', 'The body must not be empty.'],
  ['white space', ' \n', NOT_JSON],
  ['not UTF-8', Uint8Array.of(0x22, 0xe9, 0x22), 'The body must be valid UTF-8.'],
])('a body that is %s is a 400', async (_, body, problem) => {
  const reply = await sendWithoutD1('POST', '/v1/pets', body);
  expect(errorOf(reply.body)).toBe(`400 invalid_json: ${problem}`);
});

test.each([
  ['with', (length: number) => ({ 'content-length': `${length}` })],
  ['without', () => ({})],
])('a body has at most MAX_BODY_BYTES, %s a Content-Length', async (_, headersOf) => {
  const send = (length: number) =>
    sendWithoutD1('POST', '/v1/pets', BODY.padEnd(length), headersOf(length));
  // An accepted body reaches D1, which is not there.
  expect((await send(MAX_BODY_BYTES)).status).toBe(503);
  const { body } = await send(MAX_BODY_BYTES + 1);
  expect(errorOf(body)).toBe(
    `413 body_too_large: The body must be at most ${MAX_BODY_BYTES} bytes.`,
  );
});

test.each([
  { 'content-type': 'APPLICATION/json' },
  { 'content-type': 'application/json ; Charset="UTF-8"' },
  { 'content-type': 'application/json\t;\tcharset=utf-8' },
  // RFC 9110, section 5.6.6: a semicolon may stand without a parameter.
  { 'content-type': 'application/json;' },
  { 'content-type': 'application/json ;; charset=utf-8 ;' },
  { 'content-type': 'application/json', 'content-encoding': 'Identity' },
])('%j is accepted', async (headers) => {
  expect((await store.createPet(BODY, { headers })).status).toBe(201);
});

const TYPE = 'must be JSON in UTF-8: send the header Content-Type: application/json.';
const CODING = 'must not be compressed: leave out the header Content-Encoding.';

test.each([
  ...[null, 'text/plain', 'application/problem+json', 'application/merge-patch+json'],
  ...[
    'application/json, text/plain',
    'application/json charset=utf-8',
    'application/json; profile=x',
  ],
  ...['application/json; charset=us-ascii', 'application/json; charset="utf-8'],
  'application/json; charset=utf-8; charset=utf-8',
])('the media type %s is not supported', async (type) => {
  const bytes = Uint8Array.from(Buffer.from(BODY));
  const { body } = await sendWithoutD1('POST', '/v1/pets', bytes, { 'content-type': type });
  expect(errorOf(body)).toBe(`415 unsupported_media_type: The body ${TYPE}`);
});

test.each(['gzip', 'br, identity'])('the content coding %s is not supported', async (coding) => {
  const { headers, body } = await sendWithoutD1('POST', '/v1/pets', BODY, {
    'content-encoding': coding,
  });
  expect(headers.get('accept-encoding')).toBe('identity');
  expect(errorOf(body)).toBe(`415 unsupported_media_type: The body ${CODING}`);
});
