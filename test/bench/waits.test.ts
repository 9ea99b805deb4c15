/** How long a request waits for KV and D1, with simulated latencies and a mocked clock: which waits are sequential. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type Call, OPERATIONS, sendInProcess } from '../../bench/calls.ts';
import { stubBindings } from '../../bench/stubs.ts';
import { generateKey } from '../../src/auth/keys/format.ts';

const LATENCY_MS = { KV: 80, D1: 150 };

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  vi.spyOn(console, 'log').mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The time from the request to the response, in ms. */
async function waitOf(call: Call, key: string, isKnown = true): Promise<number> {
  let pending = 0;
  const bindings = stubBindings(async (binding, value) => {
    pending += 1;
    await new Promise((resolve) => setTimeout(resolve, LATENCY_MS[binding]));
    pending -= 1;
    return value;
  }, isKnown);
  const background: Promise<unknown>[] = [];
  const start = Date.now();
  let end: number | undefined;
  const sent = sendInProcess(call, bindings, key, (work) => background.push(work));
  const response = Promise.resolve(sent).finally(() => {
    end = Date.now();
  });
  // Advances the clock only while a binding call is pending, so that the app's own work takes no time.
  while (end === undefined || pending > 0) {
    await new Promise(setImmediate);
    if (pending > 0) vi.advanceTimersByTime(10);
  }
  await Promise.all(background);
  expect((await response).ok, await (await response).text()).toBe(isKnown);
  return end - start;
}

test.each(Object.entries(OPERATIONS))(
  '%s waits for D1 once, and before it for KV only without a cached key',
  async (_, call) => {
    const key = generateKey('production');
    expect(await waitOf(call, key)).toBe(230);
    expect(await waitOf(call, key)).toBe(150);
    // A cached record of this age is used, and read again after the response.
    vi.advanceTimersByTime(20_000);
    expect(await waitOf(call, key)).toBe(150);
    expect(await waitOf(call, generateKey('production'), false)).toBe(80);
  },
);
