/** Paths, queries, headers and bodies that are designed to cost time, compared with others in the same minute. */
import { beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { creating, type Sent, startWorker } from './direct.ts';

const worker = startWorker();

let key = '';
let headers: Record<string, string> = {};
beforeEach(async () => {
  key = await worker.issueKey();
  headers = { Authorization: `Bearer ${key}` };
});

const MIN_ROUNDS = 5;
/** How often a high ratio is measured again, in case other load on the machine caused it. */
const MAX_ROUNDS = 500;

/** Milliseconds from the first byte of the request to the last byte of the response. */
async function timeOf(sent: Sent): Promise<number> {
  const start = performance.now();
  const { status, headers } = await worker.send(sent);
  const ms = performance.now() - start;
  // A request that does not reach the worker would be fast as well.
  expect(headers.has('x-request-id')).toBe(true);
  expect(status).toBeLessThan(500);
  return ms;
}

/** Expects a request to take less than `times` as long as another. Compares the best of many rounds. */
async function expectRatio(hostile: Sent, other: Sent, times: number): Promise<void> {
  const best = { hostile: Infinity, other: Infinity };
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    best.hostile = Math.min(best.hostile, await timeOf(hostile));
    best.other = Math.min(best.other, await timeOf(other));
    if (round >= MIN_ROUNDS && best.hostile < times * best.other) return;
  }
  expect(best.hostile / best.other).toBeLessThan(times);
}

/** From `size` to four times `size`, linear time grows fourfold at most, quadratic time sixteenfold. */
const expectLinear = (size: number, requestOf: (size: number) => Sent) =>
  expectRatio(requestOf(4 * size), requestOf(size), 8);

const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });
const LINE = '\u2028';

/** The text repeated up to `size` bytes. */
const fill = (text: string, size: number) =>
  text.repeat(Math.floor(size / Buffer.byteLength(text)));

/** Text that is repeated, with what stands before and after it. */
type Pattern = [before: string, repeated: string, after?: string];
const make = ([before, repeated, after = '']: Pattern, size: number) =>
  `${before}${fill(repeated, size)}${after}`;

const PATH_BYTES = 16_000;
/** The longest query that is parsed has 2 KiB. */
const QUERY_BYTES = 2_000;
const HEADER_BYTES = 30_000;
/** Four times this is close to 16 KiB, the maximum of a body. */
const BODY_BYTES = 4_000;

/** Each escape is invalid on its own, so that a decoder that tries one after another fails for each. */
const BROKEN = ['%ffa', '%ff', '%e2%80a', '%', '%a', '%zz', '%c0%af', '%ed%a0%80', '%f0%9f%90'];

describe('broken escapes take as long as letters of the same length', () => {
  const hostile: [place: string, bytes: number, request: (text: string) => Sent][] = [
    ['a path', PATH_BYTES, (text) => ({ path: `/${text}` })],
    ['an id', PATH_BYTES, (text) => ({ path: `/v1/pets/${text}`, headers })],
    ['a query', QUERY_BYTES, (text) => ({ path: `/health?${text}` })],
    ['a long query', PATH_BYTES, (text) => ({ path: `/health?${text}` })],
    ['the names of parameters', QUERY_BYTES, (text) => ({ path: `/v1/pets?${text}=1&a`, headers })],
    ['a cursor', QUERY_BYTES, (text) => ({ path: `/v1/pets?cursor=${text}`, headers })],
    ['Cookie', HEADER_BYTES, (text) => ({ path: '/health', headers: { Cookie: `a=${text}` } })],
    ['Referer', HEADER_BYTES, (text) => ({ path: '/health', headers: { Referer: `/?${text}` } })],
    [
      'Origin',
      HEADER_BYTES,
      (text) => ({ path: '/health', headers: { Origin: `http://${text}` } }),
    ],
  ];
  describe.each(hostile)('in %s', (_, bytes, request) => {
    test.each(BROKEN)('%s', (broken) => {
      const text = fill(broken, bytes);
      return expectRatio(request(text), request('a'.repeat(text.length)), 2.5);
    });
  });

  test('as names of parameters', () => {
    const names = (text: string) => ({ path: `/health?${fill(text, QUERY_BYTES)}` });
    return expectRatio(names('%ff=&'), names('aaa=&'), 2.5);
  });
});

describe('many small parts take about as long as one long part of the same length', () => {
  /** Different texts, joined. */
  const many = (bytes: number, textOf: (index: number) => string, separator: string) => {
    const texts: string[] = [];
    for (let i = 0, left = bytes; left > 0; i += 1) {
      texts.push(textOf(i));
      left -= textOf(i).length + separator.length;
    }
    return texts.join(separator);
  };
  const LONG_BODY_BYTES = 16_000;

  test.each(['/health', '/v1/pets'])('parameters of %s', (path) => {
    const names = many(QUERY_BYTES, String, '&');
    const long = 'a'.repeat(names.length);
    const list = (query: string) => ({ path: `${path}?${query}`, headers });
    // 1.4 if all names were decoded.
    return expectRatio(list(names), list(long), 1.3);
  });

  test.each([
    ['fields of an object', `{${many(LONG_BODY_BYTES, (i) => `"${i}":1`, ',')}}`],
    ['items of an array', `[${many(LONG_BODY_BYTES, () => '1', ',')}]`],
  ])('%s', (_, body) => {
    const long = `{"${'a'.repeat(body.length - 6)}":1}`;
    // 2.5 if all fields were validated.
    return expectRatio(creating(key, body), creating(key, long), 2);
  });
});

/** A pattern for each repeated text. */
const tuples = (name: string, before: string, texts: string[]) =>
  texts.map((text): [string, string, string] => [name, before, text]);

describe('the response time grows at most linearly with', () => {
  test.each<Pattern>([
    ...['9', '%31', '%', '../', '/'].map((text): Pattern => ['/v1/pets/', text]),
    ['/v1/pets/', '0', '1'],
    ['/v1/pets/-', '1', 'x'],
    ['/v1', '/pets'],
  ])('a path of %s and many %s', (...pattern) =>
    expectLinear(PATH_BYTES / 4, (size) => ({ path: make(pattern, size), headers })),
  );

  test.each<Pattern>([
    ...['Bearer ', LINE].map((text): Pattern => ['', text, `${LINE}x`]),
    ...[' ', ` ${LINE}`].map((text): Pattern => ['Bearer', text, `${LINE}x`]),
    ['Bearer', ' ', '\u2029x'],
    ['', 'a', ` ${LINE}x`],
    ['', ',', ` ${LINE}x`],
    ['Bearer ', 'a', `${LINE}x`],
    ['Bearer ', 'a'],
    ['Bearer', ' ', 'x y'],
  ])('Authorization of %j and many %j', (...pattern) =>
    expectLinear(HEADER_BYTES, (size) => ({
      headers: { Authorization: make(pattern, size) },
    })),
  );

  test.each<[name: string, before: string, repeated: string]>([
    ...tuples('Content-Type', 'application/json', [';', ' ', ' ; ', LINE, ';charset=utf-8']),
    ...tuples('Content-Encoding', 'identity', [' ']),
    ...tuples('Content-Encoding', 'gzip', [', ']),
    ...tuples('Idempotency-Key', '', ['"']),
    ...tuples('Idempotency-Key', '"', ['\\', '\\"', `"${LINE}`, ' ']),
    ...tuples('X-D1-Bookmark', '', ['00000000-']),
    ...tuples('Origin', 'http://', ['localhost', '127.']),
    ...tuples('Origin', 'http://localhost', [':']),
    ...tuples('Access-Control-Request-Headers', '', ['a,']),
    ...tuples('CF-Ray', '0', ['-ABC']),
  ])('%s of %j and many %j', (name, ...pattern) =>
    expectLinear(HEADER_BYTES, (size) =>
      creating(key, BODY, { [name]: make([...pattern, 'x'], size) }),
    ),
  );

  test.each(['1', '1.', ':', '::ffff:', '0:'])('CF-Connecting-IP of %j', (text) =>
    // The address is read only for an unknown key.
    expectLinear(HEADER_BYTES, (size) =>
      creating(generateKey('local'), BODY, {
        'CF-Connecting-IP': make(['::ffff:', text], size),
      }),
    ),
  );

  test.each<Pattern>([
    ...['"name":1,', '"a', ','].map((text): Pattern => ['{', text, '"name":1}']),
    ...['x', 'category_-', '🐕', '\\"'].map((text): Pattern => ['{"', text, '":1}']),
    ...['\u0301', '\u200d', '\\u0041', '\\ud800', '\\\\', LINE, '\u0000'].map(
      (text): Pattern => ['{"name":"', text, '"}'],
    ),
    ...['[', '{"a":', '1,', '[1],'].map((text): Pattern => ['', text, '1']),
    ...['[', '1,', '1e999999999,'].map((text): Pattern => ['{"name":[', text, '1]}']),
    ...['1', '1.', '0.', '1e', '1e-'].map((text): Pattern => [`{"categoryId":${text}`, '0', '1}']),
    ['{"categoryId":1e', '9', '}'],
    ['{"name":"', '\\'],
    ['{"name":"', 'a'],
    ['{', ' ', '"name":1}'],
    ['{"name":"a"}', '\n', 'x'],
    ['{"a"', ':', '1}'],
  ])('a body of %j and many %j', (...pattern) =>
    expectLinear(BODY_BYTES, (size) => creating(key, make(pattern, size))),
  );
});
