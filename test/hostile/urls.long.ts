/** URLs designed to cost time. */
import { beforeEach, describe, test } from 'vitest';
import { expectLinear } from './growth.ts';
import { startServer } from './server.ts';

const server = startServer();
const SIZE = 4_000;

let headers: Record<string, string> = {};
beforeEach(async () => {
  headers = { Authorization: `Bearer ${await server.issueKey()}` };
});

/** The text repeated up to `size` characters. */
const fill = (text: string, size: number) => text.repeat(Math.floor(size / text.length));

/** As many different parameters as fit into `size` characters. */
const unknownParameters = (size: number) =>
  Array.from({ length: Math.floor(size / 6) }, (_, i) => `${1_000 + i}=`).join('&');

const QUERIES: [string, (size: number) => string][] = [
  ['&', (size) => fill('&', size)],
  ['=', (size) => fill('=', size)],
  ['?', (size) => fill('?', size)],
  ['%', (size) => fill('%', size)],
  ['+', (size) => fill('+', size)],
  ['escapes', (size) => fill('%41', size)],
  ['broken escapes', (size) => fill('%e2%80', size)],
  ['parameters without a name', (size) => fill('&=x', size)],
  ['unknown parameters', unknownParameters],
  ['repeated parameters', (size) => fill('limit=1&', size)],
  ['repeated names', (size) => fill('status&', size)],
  ['__proto__', (size) => fill('__proto__[]=1&', size)],
  ['a long limit', (size) => `limit=${fill('0', size)}20`],
  ['a long status', (size) => `status=${fill('sold', size)}`],
  ['a long cursor', (size) => `cursor=${fill('A', size)}`],
  ['a cursor of a long number', (size) => `cursor=${btoa(`1..${fill('0', (size * 3) / 4)}1.x`)}`],
  ['a cursor of dots', (size) => `cursor=${btoa(fill('.', (size * 3) / 4))}`],
  ['a cursor of dashes', (size) => `cursor=${fill('-_', size)}`],
];

const PATHS: [string, (size: number) => string][] = [
  ['digits', (size) => `/v1/pets/${fill('9', size)}`],
  ['zeros', (size) => `/v1/pets/${fill('0', size)}1`],
  ['digits and a letter', (size) => `/v1/pets/-${fill('1', size)}x`],
  ['escapes', (size) => `/v1/pets/${fill('%31', size)}`],
  ['broken escapes', (size) => `/v1/pets/${fill('%', size)}`],
  ['slashes', (size) => `/${fill('/', size)}`],
  ['segments', (size) => `/v1${fill('/pets', size)}`],
  ['dots', (size) => `/v1/pets/${fill('../', size)}x`],
];

describe('the response time grows at most linearly', () => {
  test.each(QUERIES)('with a query of %s', async (_, query) => {
    // Four times this is the longest query that is parsed.
    await expectLinear(server.port(), 500, (size) => ({
      path: `/v1/pets?${query(size)}`,
      headers,
    }));
  });

  test.each(PATHS)('with a path of %s', async (_, path) => {
    await expectLinear(server.port(), SIZE, (size) => ({ path: path(size), headers }));
  });
});
