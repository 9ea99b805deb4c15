/** Measures how the response time grows with the size of the request, independent of the machine's speed. */
import { expect } from 'vitest';
import { type Answer, answerOn, bytesOf, open, type Sent } from './client.ts';

const MIN_ROUNDS = 5;
/** How long a high ratio is measured again, in case other load on the machine caused it. */
const MAX_MS = 20_000;

/** Milliseconds from the first byte of the request to the last byte of the response. */
export async function timeOf(port: number, sent: Sent): Promise<{ ms: number; answer: Answer }> {
  const bytes = bytesOf(sent);
  const socket = await open(port);
  const start = performance.now();
  socket.write(bytes);
  const answer = await answerOn(socket);
  return { ms: performance.now() - start, answer };
}

/**
 * Expects the response time to grow at most linearly from `size` to four times `size`: linear time grows
 * fourfold at most, quadratic time sixteenfold. Uses the best of many rounds.
 */
export async function expectLinear(
  port: number,
  size: number,
  requestOf: (size: number) => Sent,
): Promise<void> {
  const [small, large] = [requestOf(size), requestOf(4 * size)];
  const best = { small: Infinity, large: Infinity };
  const start = performance.now();
  for (let round = 0; ; round += 1) {
    for (const [name, sent] of [
      ['small', small],
      ['large', large],
    ] as const) {
      const { ms, answer } = await timeOf(port, sent);
      best[name] = Math.min(best[name], ms);
      // A request that does not reach the worker would be fast as well.
      expect(answer.headers.has('x-request-id')).toBe(true);
      expect(answer.status).toBeLessThan(500);
    }
    const isEnough = round + 1 >= MIN_ROUNDS && best.large < 8 * best.small;
    if (isEnough || performance.now() - start > MAX_MS) break;
  }
  expect(best.large / best.small).toBeLessThan(8);
}
