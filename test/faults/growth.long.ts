/** Paths, queries, headers and bodies that are designed to cost time: the response time grows at most linearly. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const send = startApp(startStore());

type Sent = { method?: string; path?: string; headers?: Record<string, string>; body?: string };

const MIN_ROUNDS = 5;
/** How often a high ratio is measured again, in case other load on the machine caused it. */
const MAX_ROUNDS = 500;

async function timeOf({ method = 'GET', path = '/v1/pets', body, headers = {} }: Sent) {
  const start = performance.now();
  await send(method, path, body, headers);
  return performance.now() - start;
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

/** The text repeated up to `size` bytes. */
const fill = (text: string, size: number) =>
  text.repeat(Math.floor(size / Buffer.byteLength(text)));

const creating = (body: string, headers = {}) => ({ method: 'POST', headers, body });

describe.each<[place: string, bytes: number, request: (text: string) => Sent]>([
  ['a path', 64_000, (text) => ({ path: `/${text}` })],
  ['an id', 64_000, (text) => ({ path: `/v1/pets/${text}` })],
  // The longest query that is parsed has 2 KiB.
  ['a query', 2_000, (text) => ({ path: `/v1/pets?after=${text}` })],
  ['a long query', 64_000, (text) => ({ path: `/health?${text}` })],
])('in %s, as many letters take as long as', (_, bytes, request) => {
  // Each escape is invalid on its own: a decoder that tries one after another takes some hundred times as long.
  test.each(['%ffa', '%e2%80a', '%', '%zz', '%ff=&'])('the broken escapes %s', (broken) => {
    const text = fill(broken, bytes);
    return expectRatio(request(text), request('a'.repeat(text.length)), 25);
  });
});

describe('the response time grows at most linearly with', () => {
  test.each([
    ...['9', '%31', '%'].map((text) => ({ text, end: '' })),
    ...[
      { text: '0', end: '1' },
      { text: '1', end: 'x' },
    ],
  ])('many $text in a path', ({ text, end }) =>
    expectLinear(16_000, (size) => ({ path: `/v1/pets/${fill(text, size)}${end}` })),
  );

  test.each([
    ['Authorization', 'Bearer ', 'a a '],
    ...[';', ' ; ', ';a=b'].map((text) => ['Content-Type', 'application/json', text]),
    ...['"', '\\"', ' '].map((text) => ['Idempotency-Key', '"', text]),
    ['X-D1-Bookmark', '', '00000000-'],
    ...['localhost', '127.', ':'].map((text) => ['Origin', 'http://', text]),
    ['CF-Ray', '0', '-ABC'],
  ])('the header %s of %j and many %j', (name = '', before = '', text = '') =>
    expectLinear(30_000, (size) =>
      creating('{"name":"Rex","categoryId":1}', { [name]: `${before}${fill(text, size)}x` }),
    ),
  );

  test.each([
    ...['"name":1,', ' '].map((text) => ({ before: '{', text, after: '"name":1}' })),
    ...['\\ud800', '\\\\', '\u0301'].map((text) => ({ before: '{"name":"', text, after: '"}' })),
    ...['[', '1e999999999,'].map((text) => ({ before: '{"name":[', text, after: '1]}' })),
    ...['1', '0.', '1e-'].map((digits) => ({
      ...{ before: `{"categoryId":${digits}`, text: '0', after: '1}' },
    })),
    // Four times this is close to 16 KiB, the maximum of a body.
  ])('a body of $before and many $text', ({ before, text, after }) =>
    expectLinear(4_000, (size) => creating(before + fill(text, size) + after)),
  );
});
