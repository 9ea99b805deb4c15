/**
 * The bodies of requests: JSON in UTF-8, uncompressed, of limited size. Each test sends createPet.
 */
import { expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { sendWithoutD1 } from '../support/in-process.ts';
import { expectError, startStore } from '../support/store.ts';

const store = startStore();

const BODY = '{"name":"Rex","categoryId":1}';
test.each([
  ['empty', '', 'The body must not be empty.'],
  ['white space', ' \n', 'The body must be valid JSON: Unexpected end of JSON input'],
  ['not UTF-8', Uint8Array.of(0x22, 0xe9, 0x22), 'The body must be valid UTF-8.'],
])('a body that is %s is a 400', async (_, body, problem) => {
  const reply = await sendWithoutD1('POST', '/v1/pets', body);
  expectError(reply, 400, 'invalid_json', problem);
});

// The reasons are those of the runtime's parser, which shows the text around a character that it
// did not expect.
test.each([
  [
    '{"name":"Rex","categoryId":1,}',
    'Expected double-quoted property name in JSON at position 29 (line 1 column 30)',
  ],
  ['{"name": “Rex”}', `Unexpected token '“', "{"name": “Rex”}" is not valid JSON`],
  ['{"name": 🐶}', `Unexpected token '\ufffd', "{"name": 🐶}" is not valid JSON`],
])('the message for %s has the place of the error, and the log has not', async (body, reason) => {
  const reply = await store.createPet(body);
  expectError(reply, 400, 'invalid_json', `The body must be valid JSON: ${reason}`);
  const [line] = await store.logLines();
  expect(line).not.toHaveProperty('cause');
  expect(JSON.stringify(line)).not.toContain(reason.slice(0, 12));
});

test.each([
  ['with', (length: number) => ({ 'content-length': `${length}` })],
  ['without', () => ({})],
])('a body has at most MAX_BODY_BYTES, %s a Content-Length', async (_, headersOf) => {
  const send = (length: number) =>
    sendWithoutD1('POST', '/v1/pets', BODY.padEnd(length), headersOf(length));
  // An accepted body reaches D1, which is not there.
  expect((await send(MAX_BODY_BYTES)).status).toBe(503);
  const message = 'The body must be at most 16384 bytes.';
  expectError(await send(MAX_BODY_BYTES + 1), 413, 'body_too_large', message);
});

test.each([
  ['APPLICATION/json'],
  ['application/json ; Charset="UTF-8"'],
  ['application/json\t;\tcharset=utf-8'],
  // RFC 9110, section 5.6.6: a semicolon may stand without a parameter.
  ['application/json;'],
  ['application/json ;; charset=utf-8 ;'],
  ['application/json;;charset="UTF-8"\t; ;'],
  ['application/json', 'Identity'],
  // RFC 9110, section 5.6.1.2: an element of a list may be empty.
  ['application/json', ', identity ,'],
])('the media type %s with the coding %s is accepted', async (type = '', coding = '') => {
  const headers = { 'content-type': type, 'content-encoding': coding };
  expect((await store.createPet(BODY, { headers })).status).toBe(201);
});

test.each([
  ...[null, 'text/plain', 'application/problem+json', 'application/merge-patch+json'],
  'application/json, text/plain',
  'application/json charset=utf-8',
  'application/json; profile=x',
  'application/json; charset=us-ascii',
  'application/json; charset=utf-8; charset=utf-8',
  ...['application/json; charset="utf-8', '; charset=utf-8'],
  // Two headers, as the runtime joins them.
  'application/json, application/json',
])('the media type %s is a 415', async (type) => {
  const bytes = Uint8Array.from(Buffer.from(BODY));
  const reply = await sendWithoutD1('POST', '/v1/pets', bytes, { 'content-type': type });
  const message =
    'The body must be JSON in UTF-8: send the header Content-Type: application/json once, with no parameter but charset=utf-8.';
  expectError(reply, 415, 'unsupported_media_type', message);
  expect(reply.headers.get('accept')).toBe('application/json');
});

test.each(['gzip', 'br, identity', 'identityidentity', ',gzip'])(
  'the content coding %s is a 415',
  async (coding) => {
    const headers = { 'content-encoding': coding };
    const reply = await sendWithoutD1('POST', '/v1/pets', BODY, headers);
    const message = 'The body must not be compressed: leave out the header Content-Encoding.';
    expectError(reply, 415, 'unsupported_media_type', message);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      accept: 'application/json',
      'accept-encoding': 'identity',
    });
  },
);
