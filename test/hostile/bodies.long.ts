/** Bodies designed to cost time. */
import { describe, test } from 'vitest';
import { creating } from './client.ts';
import { expectLinear } from './growth.ts';
import { startServer } from './server.ts';

const server = startServer();
/** Four times this is close to 16 KiB, the maximum of a body. */
const SIZE = 4_000;

/** The text repeated up to `size` bytes. */
const fill = (text: string, size: number) =>
  text.repeat(Math.floor(size / Buffer.byteLength(text)));

/** As many different fields as fit into `size` bytes. */
const fields = (size: number) =>
  `{${Array.from({ length: Math.floor(size / 9) }, (_, i) => `"${1_000 + i}":1`).join(',\n')}}`;

const BODIES: [string, (size: number) => string][] = [
  ['unknown fields', fields],
  ['one field again and again', (size) => `{${fill('"name":1,', size)}"name":1}`],
  ['a long unknown name', (size) => `{"${fill('x', size)}":1}`],
  ['long names like a known one', (size) => `{"${fill('category_-', size)}":1}`],
  ['a long name of characters of four bytes', (size) => `{"${fill('🐕', size)}":1}`],
  ['a long name of combining characters', (size) => `{"name":"${fill('\u0301', size)}"}`],
  ['a long name of format characters', (size) => `{"name":"${fill('\u200d', size)}"}`],
  ['open brackets', (size) => fill('[', size)],
  ['nested arrays', (size) => `${fill('[', size / 2)}${fill(']', size / 2)}`],
  ['nested objects', (size) => `${fill('{"a":', size - 2)}1`],
  ['nested fields', (size) => `{"name":${fill('[', size / 2)}${fill(']', size / 2)}}`],
  ['small numbers', (size) => `{"name":[${fill('1,', size)}1]}`],
  ['small numbers without a name', (size) => `[${fill('1,', size)}1]`],
  ['a long number', (size) => `{"categoryId":1${fill('0', size)}}`],
  ['zeros after the point', (size) => `{"categoryId":1.${fill('0', size)}}`],
  ['zeros, then a digit', (size) => `{"categoryId":0.${fill('0', size)}1}`],
  ['an exponent of many digits', (size) => `{"categoryId":1e${fill('9', size)}}`],
  ['an exponent that leaves an integer', (size) => `{"categoryId":1${fill('0', size)}e-${size}}`],
  ['large exponents', (size) => `{"categoryId":[${fill('1e999999999,', size)}1]}`],
  ['escapes', (size) => `{"name":"${fill('\\u0041', size)}"}`],
  ['escaped surrogates', (size) => `{"name":"${fill('\\ud800', size)}"}`],
  ['backslashes', (size) => `{"name":"${fill('\\\\', size)}"}`],
  ['escaped quotes', (size) => `{"${fill('\\"', size)}":1}`],
  ['backslashes before an open end', (size) => `{"name":"${fill('\\', size)}`],
  ['an unclosed string', (size) => `{"name":"${fill('a', size)}`],
  ['unclosed strings', (size) => `{${fill('"a', size)}`],
  ['U+2028 in a string', (size) => `{"name":"${fill('\u2028', size)}"}`],
  ['white space', (size) => `{${fill(' ', size)}"name":1}`],
  ['white space at the end', (size) => `{"name":"a"}${fill('\n', size)}x`],
  ['commas', (size) => `{${fill(',', size)}}`],
  ['colons', (size) => `{"a"${fill(':', size)}1}`],
  ['control characters', (size) => `{"name":"${fill('\u0000', size)}"}`],
];

describe('the response time grows at most linearly', () => {
  test.each(BODIES)('with a body of %s', async (_, body) => {
    const key = await server.issueKey();
    await expectLinear(server.port(), SIZE, (size) => creating(key, body(size)));
  });
});
