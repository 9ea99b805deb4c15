/** Paths, queries, headers and bodies that are designed to cost time: the response time grows at most linearly. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { startStore } from '../store.ts';

const send = startApp(startStore());

type Sent = { path?: string; headers?: Record<string, string>; body?: string };

const MIN_ROUNDS = 5;
/** How often a high ratio is measured again, in case other load on the machine caused it. */
const MAX_ROUNDS = 500;

async function timeOf({ path = '/v1/pets', body, headers }: Sent): Promise<number> {
  const start = performance.now();
  await send(body ? 'POST' : 'GET', path, body, headers);
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

describe.each([
  { start: '/', length: 64_000 },
  { start: '/v1/pets/', length: 64_000 },
  // The longest query that is parsed has 2 KiB.
  { start: '/v1/pets?after=', length: 2_000 },
  { start: '/health?', length: 64_000 },
])('after $start', ({ start, length }) => {
  // Each escape is invalid on its own: a decoder that tries one after another takes some hundred times as long.
  test.each(['%ffa', '%e2%80a', '%', '%zz', '%ff=&'])('the broken escapes %s', (broken) => {
    const path = start + broken.repeat(length / broken.length);
    return expectRatio({ path }, { path: start.padEnd(path.length, 'a') }, 25);
  });
});

test.each([
  ['9', ''],
  ['%31', ''],
  ['%', ''],
  ['0', '1'],
  ['1', 'x'],
])('the response time grows at most linearly with many %s in a path', (text, end) =>
  expectLinear(16_000, (size) => ({ path: `/v1/pets/${text.repeat(size / text.length)}${end}` })),
);

test.each([
  ['authorization', 'Bearer ', 'a a '],
  ['content-type', 'application/json', ' ; '],
  ['idempotency-key', '"', '\\"'],
  ['x-d1-bookmark', '', '00000000-'],
  ['origin', 'http://', '127.'],
  ['cf-ray', '0', '-ABC'],
])('the response time grows at most linearly with the header %s', (name, before, text) =>
  expectLinear(30_000, (size) => ({
    headers: { [name]: `${before}${text.repeat(size / text.length)}x` },
    body: '{"name":"Rex","categoryId":1}',
  })),
);

test.each([
  ['{', '"name":1,', '"name":1}'],
  ['{"name":"', '\\ud800', '"}'],
  ['{"name":"', '\u0301', '"}'],
  ['{"name":[', '[', '1]}'],
  ['{"name":[', '1e999999999,', '1]}'],
  ['{"categoryId":1', '0', '1}'],
  ['{"categoryId":0.', '0', '1}'],
  ['{"categoryId":1e-', '0', '1}'],
])('the response time grows at most linearly with a body of %s and many %s', (before, text, end) =>
  // Four times this is close to 16 KiB, the maximum of a body.
  expectLinear(4_000, (size) => ({
    body: before + text.repeat(size / Buffer.byteLength(text)) + end,
  })),
);
