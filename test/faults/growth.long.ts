/** Paths, queries, headers and bodies that are designed to cost time, compared with others in the same minute. */
import { beforeEach, describe, expect, test } from 'vitest';
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
  const { status, head } = await worker.send(sent);
  const ms = performance.now() - start;
  // A request that does not reach the worker would be fast as well.
  expect(head).toMatch(/^x-request-id:/im);
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

const PATH_BYTES = 16_000;
/** The longest query that is parsed has 2 KiB. */
const QUERY_BYTES = 2_000;
const HEADER_BYTES = 30_000;
/** Four times this is close to 16 KiB, the maximum of a body. */
const BODY_BYTES = 4_000;

const withHeader = (name: string, value: string) => creating(key, BODY, { [name]: value });

describe.each<[place: string, bytes: number, request: (text: string) => Sent]>([
  ['a path', PATH_BYTES, (text) => ({ path: `/${text}` })],
  ['an id', PATH_BYTES, (text) => ({ path: `/v1/pets/${text}`, headers })],
  ['a query', QUERY_BYTES, (text) => ({ path: `/health?${text}` })],
  ['a long query', PATH_BYTES, (text) => ({ path: `/health?${text}` })],
  ['the name of a parameter', QUERY_BYTES, (text) => ({ path: `/v1/pets?${text}=1`, headers })],
  ['after', QUERY_BYTES, (text) => ({ path: `/v1/pets?after=${text}`, headers })],
  ['Origin', HEADER_BYTES, (text) => withHeader('Origin', `http://${text}`)],
])('in %s, as many letters take as long as', (_, bytes, request) => {
  // Each escape is invalid on its own, so that a decoder that tries one after another fails for each.
  test.each(['%ffa', '%ff', '%e2%80a', '%', '%a', '%zz', '%c0%af', '%ed%a0%80', '%ff=&'])(
    'the broken escapes %s',
    (broken) => {
      const text = fill(broken, bytes);
      return expectRatio(request(text), request('a'.repeat(text.length)), 2.5);
    },
  );
});

describe('many small parts take about as long as one long part of the same length', () => {
  const numbers = Array.from({ length: 1_700 }, (_, i) => i);

  test.each(['/health', '/v1/pets'])('parameters of %s', (path) => {
    const names = numbers.join('&').slice(0, QUERY_BYTES);
    const list = (query: string) => ({ path: `${path}?${query}`, headers });
    // 1.4 if all names were decoded.
    return expectRatio(list(names), list('a'.repeat(names.length)), 1.3);
  });

  test.each([
    ['fields of an object', `{${numbers.map((i) => `"${i}":1`)}}`],
    ['items of an array', `[${fill('1,', 16_000)}1]`],
  ])('%s', (_, body) => {
    const long = `{"${'a'.repeat(body.length - 6)}":1}`;
    // 2.5 if all fields were validated.
    return expectRatio(creating(key, body), creating(key, long), 2);
  });
});

describe('the response time grows at most linearly with', () => {
  test.each([
    ...['9', '%31', '%', '../', '/'].map((text) => ['/v1/pets/', text, '']),
    ['/v1/pets/', '0', '1'],
    ['/v1/pets/-', '1', 'x'],
    ['/v1', '/pets', ''],
  ])('a path of %s and many %s', (before, text, after) =>
    expectLinear(PATH_BYTES / 4, (size) => ({ path: before + fill(text, size) + after, headers })),
  );

  test.each([
    ...['Bearer ', 'a', LINE].map((text) => ['', text]),
    ...[' ', ` ${LINE}`, ' a'].map((text) => ['Bearer', text]),
  ])('Authorization of %j and many %j', (before, text) =>
    expectLinear(HEADER_BYTES, (size) => ({
      headers: { Authorization: `${before}${fill(text, size)}${LINE}x` },
    })),
  );

  test.each([
    ...[';', ' ', ' ; ', LINE, ';a=b'].map((text) => ['Content-Type', 'application/json', text]),
    ['Content-Encoding', 'identity', ' '],
    ['Content-Encoding', 'gzip', ', '],
    ['Idempotency-Key', '', '"'],
    ...['\\', '\\"', `"${LINE}`, ' '].map((text) => ['Idempotency-Key', '"', text]),
    ['X-D1-Bookmark', '', '00000000-'],
    ...['localhost', '127.', ':'].map((text) => ['Origin', 'http://', text]),
    ['Access-Control-Request-Headers', '', 'a,'],
    ['CF-Ray', '0', '-ABC'],
  ])('%s of %j and many %j', (name, before, text) =>
    expectLinear(HEADER_BYTES, (size) => withHeader(name, `${before}${fill(text, size)}x`)),
  );

  test.each([
    ...['"name":1,', '"a', ','].map((text) => ['{', text, '"name":1}']),
    ...['x', 'category_-', '🐕', '\\"'].map((text) => ['{"', text, '":1}']),
    ...['\u0301', '\u200d', '\\u0041', '\\ud800', '\\\\', LINE, '\u0000'].map((text) => [
      '{"name":"',
      text,
      '"}',
    ]),
    ...['[', '{"a":', '1,', '[1],'].map((text) => ['', text, '1']),
    ...['[', '1,', '1e999999999,'].map((text) => ['{"name":[', text, '1]}']),
    ...['1', '1.', '0.', '1e', '1e-'].map((text) => [`{"categoryId":${text}`, '0', '1}']),
    ['{"categoryId":1e', '9', '}'],
    ['{"name":"', '\\', ''],
    ['{"name":"', 'a', ''],
    ['{', ' ', '"name":1}'],
    ['{"name":"a"}', '\n', 'x'],
    ['{"a"', ':', '1}'],
  ])('a body of %j and many %j', (before, text, after) =>
    expectLinear(BODY_BYTES, (size) => creating(key, before + fill(text, size) + after)),
  );
});
