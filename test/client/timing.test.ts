/** When attempts, pauses and calls end. The clock is a fake. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  clientWith,
  failureOf,
  limited,
  problem,
  REX,
  resultOf,
  rex,
  silence,
  unavailable,
} from './fake.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

test('an attempt without a response for 15 s is repeated', async () => {
  const { store, requests } = clientWith([silence, rex]);
  const { metadata } = await resultOf(store.createPet(REX).withMetadata());
  expect(metadata.attempts).toBe(2);
  expect(requests).toHaveLength(2);
});

test('an updatePet without a response in its time fails, and is not repeated', async () => {
  const { store, requests } = clientWith([silence, rex], { attemptTimeoutMs: 1_000 });
  expect(await failureOf(store.updatePet(1n, { name: 'Max' }))).toMatchObject({
    code: 'network_error',
    message: 'The store did not respond: Timeout after 1000 ms.',
    outcomeUnknown: true,
  });
  expect(requests).toHaveLength(1);
});

test('a body that never ends is an attempt without a response', async () => {
  const endless = () => new Response(new ReadableStream(), { headers: { 'X-Request-Id': 'id-1' } });
  const { store } = clientWith([endless], { maxAttempts: 2 });
  expect(await failureOf(store.getHealth())).toMatchObject({
    code: 'network_error',
    attempts: 2,
    requestId: 'id-1',
  });
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
  await failureOf(clientWith([answer], { maxAttempts: 8 }).store.getHealth());
  expect(times.slice(1).map((time, i) => time - (times[i] ?? 0))).toEqual(pauses);
});

test.each([
  [0, 100_125],
  [1, 125_250],
])('a pause after Retry-After: 100 is spread over a quarter of it (%d)', async (random, pause) => {
  vi.spyOn(Math, 'random').mockReturnValue(random);
  const begin = Date.now();
  const answers = [problem(429, 'rate_limited', { 'Retry-After': '100' }), rex];
  const { store } = clientWith(answers, { deadlineMs: 200_000 });
  await resultOf(store.updatePet(1n, { name: 'Max' }));
  expect(Date.now() - begin).toBe(pause);
});

test('Retry-After may be a date', async () => {
  const date = new Date(Date.now() + 20_000).toUTCString();
  const { store } = clientWith([problem(503, 'service_unavailable', { 'Retry-After': date }), rex]);
  await resultOf(store.getPet(1n));
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(date));
});

test.each([60_000, Number.POSITIVE_INFINITY])(
  'a pause that would exceed a deadline of %d ms, or the longest timer, is not started',
  async (deadlineMs) => {
    const answer = problem(429, 'rate_limited', { 'Retry-After': '9999999' });
    const { store } = clientWith([answer], { deadlineMs });
    const failure = await failureOf(store.createPet(REX));
    expect(failure).toMatchObject({ code: 'rate_limited', attempts: 1 });
    expect(failure).toHaveProperty('metadata.retryAfterSeconds', 9999999);
  },
);

test('deadline_exceeded has the last failure as its cause', async () => {
  const { store } = clientWith([unavailable, silence], { attemptTimeoutMs: 90_000 });
  expect(await failureOf(store.createPet(REX))).toMatchObject({
    code: 'deadline_exceeded',
    cause: { code: 'service_unavailable' },
    attempts: 2,
    requestId: 'id-503',
    outcomeUnknown: true,
  });
});

test('a server that never responds is tried until the deadline', async () => {
  const { store } = clientWith([silence]);
  expect(await failureOf(store.getHealth())).toMatchObject({
    code: 'deadline_exceeded',
    cause: { code: 'network_error' },
    attempts: 4,
    outcomeUnknown: false,
  });
});

describe('a call that is aborted', () => {
  test('before it begins sends nothing', async () => {
    const { store, requests } = clientWith([rex]);
    const failure = await failureOf(store.createPet(REX, { signal: AbortSignal.abort('enough') }));
    expect(failure).toMatchObject({ code: 'aborted', cause: 'enough', attempts: 0 });
    expect(requests).toEqual([]);
  });

  test.each([
    ['waits for a response', silence, { outcomeUnknown: true }],
    ['pauses', limited, { outcomeUnknown: false, requestId: 'id-429' }],
  ])('while it %s ends', async (_, answer, details) => {
    const controller = new AbortController();
    const { store, requests } = clientWith([answer], { signal: new AbortController().signal });
    const call = store.createPet(REX, { signal: controller.signal });
    call.catch(() => {});
    await vi.advanceTimersByTimeAsync(1);
    controller.abort('enough');
    await expect(call).rejects.toMatchObject({ code: 'aborted', cause: 'enough', ...details });
    expect(requests).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
