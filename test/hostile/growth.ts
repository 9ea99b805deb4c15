/** How the time of an answer grows with the size of its request. No test knows how fast the machine is. */
import { expect } from 'vitest';
import { type Answer, answerOn, bytesOf, open, type Sent } from './client.ts';

const MIN_ROUNDS = 5;
/** How long a ratio that is too high is measured again: noise passes, growth stays. */
const MAX_MS = 20_000;

/** Milliseconds from the first byte of the request to the last of the answer. */
export async function timeOf(port: number, sent: Sent): Promise<{ ms: number; answer: Answer }> {
  const bytes = bytesOf(sent);
  const socket = await open(port);
  const start = performance.now();
  socket.write(bytes);
  const answer = await answerOn(socket);
  return { ms: performance.now() - start, answer };
}

/**
 * Expects the time of requests to grow no more than linearly from `size` to four times that: a linear
 * time grows at most fourfold, a quadratic one sixteenfold. The best of many rounds is taken.
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
      // A request that never reached the worker would be answered fast, too.
      expect(answer.headers.has('x-request-id')).toBe(true);
      expect(answer.status).toBeLessThan(500);
    }
    const isEnough = round + 1 >= MIN_ROUNDS && best.large < 8 * best.small;
    if (isEnough || performance.now() - start > MAX_MS) break;
  }
  expect(best.large / best.small).toBeLessThan(8);
}
