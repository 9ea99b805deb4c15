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
  const endless = () => new Response(new ReadableStream(), { headers: { 'X-Request-Id': 'id-1' } });
  const { store } = clientWith([endless], { maxAttempts: 2, attemptTimeoutMs: 1_000 });
  const message = 'The store did not respond: Timeout after 1000 ms.';
  const failure = { code: 'network_error', message, attempts: 2, requestId: 'id-1' };
  expect(await outcomeOf(store.getHealth())).toMatchObject(failure);
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

test.each([60_000, Number.POSITIVE_INFINITY])(
  'a pause that would exceed a deadline of %d ms, or the longest timer, is not started',
  async (deadlineMs) => {
    const answer = problem(429, 'rate_limited', { 'Retry-After': '9999999' });
    const { store } = clientWith([answer], { deadlineMs });
    const failure = { attempts: 1, metadata: { retryAfterSeconds: 9999999 } };
    expect(await outcomeOf(store.createPet(REX))).toMatchObject(failure);
  },
);

test('deadline_exceeded has the last failure as its cause', async () => {
  const { store } = clientWith([unavailable, silence], { attemptTimeoutMs: 90_000 });
  const failure = await outcomeOf(store.createPet(REX));
  expect(failure).toMatchObject({ code: 'deadline_exceeded', attempts: 2, requestId: 'id-503' });
  expect(failure).toMatchObject({ cause: { code: 'service_unavailable' }, outcomeUnknown: true });
});

test('a call that is aborted before it begins sends nothing', async () => {
  const { store, requests } = clientWith([rex]);
  const call = store.createPet(REX, { signal: AbortSignal.abort('enough') });
  expect(await outcomeOf(call)).toMatchObject({ code: 'aborted', cause: 'enough', attempts: 0 });
  expect(requests).toEqual([]);
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
