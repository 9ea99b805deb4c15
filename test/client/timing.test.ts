/** When attempts, pauses and calls end. The clock is a fake. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ANSWERS, clientWith, outcomeOf, problem, REX } from './fake.ts';

const START = Date.parse('2026-11-20T00:00:00Z');
const { rex, silence, unavailable, limited } = ANSWERS;

beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => {
  // First, because the spies on timers would restore those of the fake clock.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

test('an attempt without a response for 15 s is repeated', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const { store, requests } = clientWith([silence, rex]);
  expect(await outcomeOf(store.createPet(REX))).toMatchObject({ id: 1n });
  expect(requests).toHaveLength(2);
  expect(Date.now() - START).toBe(15_125);
});

test('a body that never ends is an attempt without a response', async () => {
  const headers = { 'X-Request-Id': 'id-1' };
  const endless = async () => new Response(new ReadableStream(), { headers });
  const { store } = clientWith([endless], { maxAttempts: 2, attemptTimeoutMs: 1_000 });
  const message = 'The request failed: Timeout after 1000 ms.';
  const failure = { code: 'network_error', message, attempts: 2, requestId: 'id-1' };
  const outcome = await outcomeOf(store.getHealth());
  expect(outcome).toMatchObject({ ...failure, cause: { name: 'TimeoutError' } });
  expect(outcome).toHaveProperty('cause', expect.any(DOMException));
});

test.each([
  [0, [125, 250, 500, 1000, 2000, 4000, 4000]],
  [1, [250, 500, 1000, 2000, 4000, 8000, 8000]],
])('pauses double up to 8 s, and half of each is random (%d)', async (random, pauses) => {
  vi.spyOn(Math, 'random').mockReturnValue(random);
  const times: number[] = [];
  const answer = () => {
    times.push(Date.now());
    return unavailable();
  };
  await outcomeOf(clientWith([answer], { maxAttempts: 8 }).store.getHealth());
  expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual(pauses);
});

test.each([
  ['100', 0, 100_125],
  ['100', 1, 125_250],
  ['Fri, 20 Nov 2026 00:00:20 GMT', 0, 20_125],
])(
  'a pause after Retry-After: %s is spread over a quarter of it (%d)',
  async (value, random, ms) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const answers = [problem(429, 'rate_limited', { 'Retry-After': value }), rex];
    const { store } = clientWith(answers, { deadlineMs: 200_000 });
    await outcomeOf(store.updatePet(1n, { name: 'Max' }));
    expect(Date.now() - START).toBe(ms);
  },
);

test('a pause that would exceed the deadline is not started', async () => {
  const answer = problem(429, 'rate_limited', { 'Retry-After': '60' });
  const failure = { attempts: 1, metadata: { retryAfterSeconds: 60 } };
  expect(await outcomeOf(clientWith([answer]).store.createPet(REX))).toMatchObject(failure);
  expect(Date.now()).toBe(START);
});

test('deadlineMs and attemptTimeoutMs may be Infinity', async () => {
  const { store } = clientWith([unavailable, rex], {
    deadlineMs: Number.POSITIVE_INFINITY,
    attemptTimeoutMs: Number.POSITIVE_INFINITY,
  });
  expect(await outcomeOf(store.createPet(REX))).toMatchObject({ id: 1n });
});

test('the cause of deadline_exceeded is a TimeoutError, whose cause is the last failure', async () => {
  const { store } = clientWith([unavailable, silence], { attemptTimeoutMs: 90_000 });
  const failure = await outcomeOf(store.createPet(REX));
  expect(failure).toMatchObject({ code: 'deadline_exceeded', attempts: 2, requestId: 'id-503' });
  const cause = { name: 'TimeoutError', cause: { code: 'service_unavailable' } };
  expect(failure).toMatchObject({ cause, outcomeUnknown: true });
});

test('a call that is aborted before it begins sends nothing, and asks for no key', async () => {
  const apiKey = vi.fn(() => 'key');
  const { store, requests } = clientWith([rex], { apiKey });
  const call = store.createPet(REX, { signal: AbortSignal.abort('enough') });
  expect(await outcomeOf(call)).toMatchObject({ code: 'aborted', cause: 'enough', attempts: 0 });
  expect([requests, apiKey.mock.calls]).toEqual([[], []]);
});

test.each([
  ['the deadline', { deadlineMs: 5_000 }, 'deadline_exceeded', 5_000],
  ['attemptTimeoutMs', {}, 'api_key_failed', 15_000],
  ['the signal', { signal: AbortSignal.abort() }, 'aborted', 0],
])('%s ends an apiKey function that hangs', async (_, options, code, ms) => {
  const { store, requests } = clientWith([rex], { apiKey: ANSWERS.silence });
  const failure = { code, attempts: 0, outcomeUnknown: false };
  expect(await outcomeOf(store.createPet(REX, options))).toMatchObject(failure);
  expect([requests, Date.now() - START]).toEqual([[], ms]);
});

test('the signal of the client aborts its calls, and many of them cause no warning', async () => {
  const warn = vi.spyOn(process, 'emitWarning');
  const controller = new AbortController();
  const added = vi.spyOn(controller.signal, 'addEventListener');
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const { store } = clientWith([silence], { signal: controller.signal });
  const calls = Array.from({ length: 100 }, () => outcomeOf(store.getHealth()));
  controller.abort('enough');
  for (const call of calls) expect(await call).toMatchObject({ code: 'aborted', cause: 'enough' });
  expect(warn).not.toHaveBeenCalled();
  // Otherwise a signal that lives as long as the program would keep memory of every call.
  expect(removed.mock.calls).toEqual(added.mock.calls);
});

test.each([
  ['waits for a response', silence, { outcomeUnknown: true }],
  ['pauses', limited, { outcomeUnknown: false, requestId: 'id-429' }],
])('a call that is aborted while it %s ends', async (_, answer, details) => {
  const started = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const controller = new AbortController();
  const { store, requests } = clientWith([answer], { signal: new AbortController().signal });
  const call = store.createPet(REX, { signal: controller.signal });
  call.catch(() => {});
  await vi.advanceTimersByTimeAsync(1);
  controller.abort('enough');
  await expect(call).rejects.toMatchObject({ code: 'aborted', cause: 'enough', ...details });
  expect(requests).toHaveLength(1);
  // `vi.getTimerCount()` would also count timers of the servers of other test files.
  const timers = started.mock.results.map(({ value }) => value);
  expect(timers).not.toEqual([]);
  const ended = cleared.mock.calls.map(([timer]) => timer);
  expect(timers.filter((timer) => !ended.includes(timer))).toEqual([]);
});
