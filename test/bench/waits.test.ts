/** How long a request waits for KV and D1, with a latency for each: calls that are made at once are one wait. */
import { expect, test, vi } from 'vitest';
import { type Call, OPERATIONS, sendInProcess } from '../../bench/calls.ts';
import { stubBindings } from '../../bench/stubs.ts';
import { generateKey } from '../../src/auth/key-format.ts';

const LATENCY_MS = { KV: 80, D1: 150 };

/** Lets the app run until it waits for a binding or has responded. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
}

/** The sum of the latencies that the response waits for, in ms, and the log line. */
async function waitOf(call: Call, key: string, isKnown = true) {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'] });
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
    const latency = Math.max(0, ...calls.map((each) => each.latency));
    wait += latency;
    vi.advanceTimersByTime(latency);
    for (const { answer } of calls) answer();
    calls = [];
  }
  await settle();
  const timers = vi.getTimerCount();
  vi.useRealTimers();
  const { durationMs, kvMs, d1Ms } = JSON.parse(log.mock.calls[0]?.[0] ?? '');
  log.mockRestore();
  expect(response.ok, await response.text()).toBe(isKnown);
  return { wait, durationMs, kvMs, d1Ms, timers };
}

test.each(Object.entries(OPERATIONS))(
  '%s waits for D1 once, and for KV only without a cached key',
  async (_, call) => {
    const key = generateKey('production');
    const first = { wait: 230, durationMs: 230, kvMs: 80, d1Ms: 150, timers: 0 };
    expect(await waitOf(call, key)).toEqual(first);
    expect(await waitOf(call, key)).toEqual({ wait: 150, durationMs: 150, d1Ms: 150, timers: 0 });
    const unknown = { wait: 80, durationMs: 80, kvMs: 80, timers: 0 };
    expect(await waitOf(call, generateKey('production'), false)).toEqual(unknown);
  },
);

test('a list is one statement outside a batch, which D1 repeats if it fails', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {});
  const bindings = stubBindings();
  const batch = vi.spyOn(bindings.DB, 'batch');
  await sendInProcess(OPERATIONS.listPets, bindings, generateKey('production'));
  expect(batch).not.toHaveBeenCalled();
  await sendInProcess(OPERATIONS.updatePet, bindings, generateKey('production'));
  expect(batch).toHaveBeenCalledOnce();
  log.mockRestore();
});
