/**
 * Paths, queries, headers and bodies that are designed to cost time: the response time grows at
 * most linearly.
 */
import { expect, test } from 'vitest';
import { MAX_BODY_BYTES } from '../../src/http/body.ts';
import { MAX_QUERY_LENGTH } from '../../src/http/query-text.ts';
import { startApp } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const sendWithoutD1 = startApp(startStore());

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
  { start: '/', length: 64_000 },
  { start: '/v1/pets/', length: 64_000 },
  { start: '/v1/pets?after=', length: MAX_QUERY_LENGTH - 48 },
];
/**
 * Each escape is invalid on its own: a decoder that tries one after another takes some hundred
 * times as long.
 */
const BROKEN = ['%ffa', '%e2%80a', '%', '%zz', '%ff=&'];

test.each(STARTS.flatMap((place) => BROKEN.map((broken) => ({ ...place, broken }))))(
  'many broken escapes $broken after $start are rejected soon',
  ({ start, length, broken }) => {
    const path = start + broken.repeat(length / broken.length);
    return expectRatio({ path }, { path: start.padEnd(path.length, 'a') }, 25);
  },
);

test.each([
  { place: 'path', before: '', repeated: '9', after: '' },
  { place: 'path', before: '', repeated: '1', after: 'x' },
  { place: 'authorization', before: 'Bearer ', repeated: 'a a ', after: 'x' },
  { place: 'content-type', before: 'application/json', repeated: ' ; ', after: 'x' },
  { place: 'content-encoding', before: '', repeated: ' ', after: 'x' },
  { place: 'idempotency-key', before: '"', repeated: '\\"', after: 'x' },
  { place: 'x-d1-bookmark', before: '', repeated: '00000000-', after: 'x' },
  { place: 'body', before: '{', repeated: '"name":1,', after: '"name":1}' },
  { place: 'body', before: '{"name":"', repeated: '\\ud800', after: '"}' },
  { place: 'body', before: '{"name":[', repeated: '[', after: '1]}' },
  { place: 'body', before: '{"categoryId":1', repeated: '0', after: '1}' },
  { place: 'body', before: '{"categoryId":0.', repeated: '0', after: '1}' },
])('in the $place, after $before, the response time is linear in many $repeated', (row) => {
  const { place, before, repeated, after } = row;
  // Four times this is close to the maximum of a body.
  const bytes = place === 'body' ? MAX_BODY_BYTES / 4 - 96 : 16_000;
  const length = bytes / Buffer.byteLength(repeated);
  const requestOf = (times: number): Sent => {
    const sent = before + repeated.repeat(times * length) + after;
    if (place === 'path') return { path: `/v1/pets/${sent}` };
    if (place === 'body') return { body: sent };
    return { headers: { [place]: sent }, body: '{"name":"Rex","categoryId":1}' };
  };
  // Linear time grows fourfold at most, quadratic time sixteenfold.
  return expectRatio(requestOf(4), requestOf(1), 8);
});
