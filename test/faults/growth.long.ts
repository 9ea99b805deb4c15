/** Paths, queries, headers and bodies that are designed to cost time. */
import { beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { startWorker } from './direct.ts';
import { expectLikeHarmless, expectLinear, timeOf } from './growth.ts';
import { answerOn, bytesOf, creating, type Sent, write } from './socket.ts';

const worker = startWorker();

let key = '';
let headers: Record<string, string> = {};
beforeEach(async () => {
  key = await worker.issueKey();
  headers = { Authorization: `Bearer ${key}` };
});

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
      return expectLikeHarmless(worker.port(), request(text), request('a'.repeat(text.length)));
    });
  });

  test('as names of parameters', () => {
    const names = (text: string) => ({ path: `/health?${fill(text, QUERY_BYTES)}` });
    return expectLikeHarmless(worker.port(), names('%ff=&'), names('aaa=&'));
  });
});

describe('the response time grows at most linearly with', () => {
  test.each<Pattern>([
    ...['9', '%31', '%', '../', '/'].map((text): Pattern => ['/v1/pets/', text]),
    ['/v1/pets/', '0', '1'],
    ['/v1/pets/-', '1', 'x'],
    ['/v1', '/pets'],
  ])('a path of %s and many %s', (...pattern) =>
    expectLinear(worker.port(), PATH_BYTES / 4, (size) => ({ path: make(pattern, size), headers })),
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
    expectLinear(worker.port(), HEADER_BYTES, (size) => ({
      headers: { Authorization: make(pattern, size) },
    })),
  );

  test.each<[string, string, string]>([
    ...[';', ' ', ' ; ', LINE, ';charset=utf-8'].map((text): [string, string, string] => [
      ...(['Content-Type', 'application/json', text] as const),
    ]),
    ['Content-Encoding', 'identity', ' '],
    ['Content-Encoding', 'gzip', ', '],
    ['Idempotency-Key', '', '"'],
    ...['\\', '\\"', `"${LINE}`, ' '].map((text): [string, string, string] => [
      ...(['Idempotency-Key', '"', text] as const),
    ]),
    ['X-D1-Bookmark', '', '00000000-'],
    ['Origin', 'http://', 'localhost'],
    ['Origin', 'http://localhost', ':'],
    ['Origin', 'http://', '127.'],
    ['Access-Control-Request-Headers', '', 'a,'],
    ['CF-Ray', '0', '-ABC'],
  ])('%s of %j and many %j', (name, ...pattern) =>
    expectLinear(worker.port(), HEADER_BYTES, (size) =>
      creating(key, BODY, { [name]: make([...pattern, 'x'], size) }),
    ),
  );

  test.each(['1', '1.', ':', '::ffff:', '0:'])('CF-Connecting-IP of %j', (text) =>
    // The address is read only for an unknown key.
    expectLinear(worker.port(), HEADER_BYTES, (size) =>
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
    expectLinear(worker.port(), BODY_BYTES, (size) => creating(key, make(pattern, size))),
  );

  test('a body of different unknown fields', () => {
    const fields = (size: number) =>
      Array.from({ length: Math.floor(size / 9) }, (_, i) => `"${1_000 + i}":1`);
    return expectLinear(worker.port(), BODY_BYTES, (size) =>
      creating(key, `{${fields(size).join(',\n')}}`),
    );
  });
});

test('a hostile request delays other clients no longer than a harmless one of the same size', async () => {
  const median = async (other: Sent) => {
    const waits: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      const socket = await write(worker.port(), bytesOf(other));
      waits.push((await timeOf(worker.port(), { path: '/health' })).ms);
      await answerOn(socket);
    }
    return waits.sort((a, b) => a - b)[3] ?? Infinity;
  };
  const harmless = { headers: { Authorization: `Bearer ${fill('a', HEADER_BYTES)}` } };
  // The second measurement finds a warm runtime.
  await median(harmless);
  const hostile = { headers: { Authorization: `Bearer${fill(' ', HEADER_BYTES)}${LINE}x` } };
  expect((await median(hostile)) / (await median(harmless))).toBeLessThan(20);
});
