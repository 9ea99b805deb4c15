/** Compares the response times of requests that are designed to cost time, independent of the machine's speed. */
import { expect } from 'vitest';
import { type Answer, type Sent, send } from './socket.ts';

const MIN_ROUNDS = 5;
/** How long a high ratio is measured again, in case other load on the machine caused it. */
const MAX_MS = 20_000;

/** Milliseconds from the first byte of the request to the last byte of the response. */
export async function timeOf(port: number, sent: Sent): Promise<{ ms: number; answer: Answer }> {
  const start = performance.now();
  const answer = await send(port, sent);
  return { ms: performance.now() - start, answer };
}

/** Expects the first request to take less than `times` as long as the second. Compares the best of many rounds. */
async function expectRatio(port: number, requests: [Sent, Sent], times: number): Promise<void> {
  const best: [number, number] = [Infinity, Infinity];
  const start = performance.now();
  for (let round = 1; ; round += 1) {
    for (const index of [0, 1] as const) {
      const { ms, answer } = await timeOf(port, requests[index]);
      best[index] = Math.min(best[index], ms);
      // A request that does not reach the worker would be fast as well.
      expect(answer.headers.has('x-request-id')).toBe(true);
      expect(answer.status).toBeLessThan(500);
    }
    const isEnough = round >= MIN_ROUNDS && best[0] < times * best[1];
    if (isEnough || performance.now() - start > MAX_MS) break;
  }
  expect(best[0] / best[1]).toBeLessThan(times);
}

/**
 * Expects the response time to grow at most linearly from `size` to four times `size`: linear time grows fourfold at most,
 * quadratic time sixteenfold.
 */
export function expectLinear(port: number, size: number, requestOf: (size: number) => Sent) {
  return expectRatio(port, [requestOf(4 * size), requestOf(size)], 8);
}

/** Expects a request to take about as long as a harmless one of the same length. */
export function expectLikeHarmless(port: number, hostile: Sent, harmless: Sent) {
  return expectRatio(port, [hostile, harmless], 2.5);
}
