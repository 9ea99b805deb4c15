/**
 * Paths, queries, headers and bodies that are designed to cost time: the response time grows at
 * most linearly.
 */
import { expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { sendWithoutD1 } from '../support/in-process.ts';

type Sent = { path?: string; headers?: Record<string, string>; body?: string };

const MIN_ROUNDS = 5;
/** How often a high ratio is measured again, in case other load on the machine caused it. */
const MAX_ROUNDS = 50;

async function timeOf({ path = '/v1/pets', body, headers }: Sent): Promise<number> {
  const start = performance.now();
  await sendWithoutD1(body ? 'POST' : 'GET', path, body, headers);
  return performance.now() - start;
}

/**
 * Expects a request to take less than `times` as long as another. Compares the best of many rounds.
 */
async function expectRatio(hostile: Sent, other: Sent, times: number): Promise<void> {
  const best = { hostile: Infinity, other: Infinity };
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    best.hostile = Math.min(best.hostile, await timeOf(hostile));
    best.other = Math.min(best.other, await timeOf(other));
    if (round >= MIN_ROUNDS && best.hostile < times * best.other) return;
  }
  expect(best.hostile / best.other).toBeLessThan(times);
}

const STARTS = [
  ['/', 64_000],
  ['/v1/pets/', 64_000],
  ['/v1/pets?after=', MAX_QUERY_LENGTH - 48],
] as const;
/**
 * Each escape is invalid on its own: a decoder that tries one after another takes some hundred
 * times as long.
 */
const BROKEN = ['%ffa', '%e2%80a', '%', '%zz', '%ff=&'];

test.each(STARTS.flatMap((start) => BROKEN.map((broken) => [broken, ...start] as const)))(
  'many broken escapes %s after %s are rejected soon',
  (broken, start, length) => {
    const path = start + broken.repeat(length / broken.length);
    return expectRatio({ path }, { path: start.padEnd(path.length, 'a') }, 25);
  },
);

test.each([
  ['path', '/v1/pets/', '9', ''],
  ['path', '/v1/pets/', '1', 'x'],
  ['authorization', 'Bearer ', 'a a ', 'x'],
  ['content-type', 'application/json', ' ; ', 'x'],
  ['content-encoding', '', ' ', 'x'],
  ['idempotency-key', '"', '\\"', 'x'],
  ['x-d1-bookmark', '', '00000000-', 'x'],
  ['body', '{', '"name":1,', '"name":1}'],
  ['body', '{"name":"', '\\ud800', '"}'],
  ['body', '{"name":[', '[', '1]}'],
  ['body', '{"categoryId":1', '0', '1}'],
  ['body', '{"categoryId":0.', '0', '1}'],
])(
  'in the %s, after %s, the response time is linear in many %s',
  (place, before, repeated, after) => {
    // Four times this is close to the maximum of a body.
    const bytes = place === 'body' ? MAX_BODY_BYTES / 4 - 96 : 16_000;
    const requestOf = (times: number): Sent => {
      const sent = before + repeated.repeat((times * bytes) / Buffer.byteLength(repeated)) + after;
      if (place === 'path' || place === 'body') return { [place]: sent };
      return { headers: { [place]: sent }, body: '{"name":"Rex","categoryId":1}' };
    };
    // Linear time grows fourfold at most, quadratic time sixteenfold.
    return expectRatio(requestOf(4), requestOf(1), 8);
  },
);
