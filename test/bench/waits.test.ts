/** How long a request waits for KV and D1, with a latency for each: calls that are made at once are one wait. */
import { beforeEach, expect, test, vi } from 'vitest';
import { type Call, OPERATIONS, sendInProcess } from '../../bench/calls.ts';
import { stubBindings } from '../../bench/stubs.ts';
import { generateKey } from '../../src/auth/key-format.ts';

const LATENCY_MS = { KV: 80, D1: 150 };

beforeEach(() => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  return () => log.mockRestore();
});

/** Lets the app run until it waits for a binding or has responded. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** The sum of the latencies that the response waits for, in ms. */
async function waitOf(call: Call, key: string, isKnown = true): Promise<number> {
  let calls: { latency: number; answer: () => void }[] = [];
  const bindings = stubBindings(async (binding, value) => {
    await new Promise<void>((answer) => calls.push({ latency: LATENCY_MS[binding], answer }));
    return value;
  }, isKnown);
  let response: Response | undefined;
  Promise.resolve(sendInProcess(call, bindings, key)).then((value) => (response = value));
  let wait = 0;
  while (!response) {
    await settle();
    wait += Math.max(0, ...calls.map(({ latency }) => latency));
    for (const { answer } of calls) answer();
    calls = [];
  }
  expect(response.ok, await response.text()).toBe(isKnown);
  return wait;
}

test.each(Object.entries(OPERATIONS))(
  '%s waits for D1 once, and before it for KV only without a cached key',
  async (_, call) => {
    const key = generateKey('production');
    expect(await waitOf(call, key)).toBe(230);
    expect(await waitOf(call, key)).toBe(150);
    expect(await waitOf(call, generateKey('production'), false)).toBe(80);
  },
);
