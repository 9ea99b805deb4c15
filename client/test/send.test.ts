/**
 * Retries, time limits and aborts. The clock is a fake, and all pauses are as short as possible.
 */
import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { operations } from '../../test/support/contract.ts';
import {
  type Answer,
  CALLS,
  clientWith,
  headerOf,
  limited,
  lost,
  outcomeOf,
  pathsOf,
  problem,
  REX,
  reply,
  rex,
  silence,
  unavailable,
} from './fake.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 0 });
  vi.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

const noPet = problem(404, 'pet_not_found');

test('the client has a method for each operation', () => {
  const { store } = clientWith([]);
  for (const { operationId } of operations) expect(store).toHaveProperty(operationId);
  expect(Object.keys(CALLS)).toHaveLength(operations.length);
});

/** A retry of it could overwrite changes of other clients. */
const UNSAFE = 'PATCH /pets/7';

test.each(Object.entries(CALLS))('%s is retried if that is safe', async (line, call) => {
  const attempts = line === UNSAFE ? 1 : 4;
  const isWrite = !line.startsWith('GET');
  for (const [answer, count, outcomeUnknown] of [
    [problem(500, 'internal_error'), attempts, isWrite],
    [problem(408, 'timeout'), attempts, isWrite],
    [lost, attempts, isWrite],
    [limited, 4, false],
    [problem(400, 'invalid_request'), 1, false],
  ] as const) {
    const { store, requests } = clientWith([answer]);
    expect(await outcomeOf(call(store))).toMatchObject({ outcomeUnknown });
    expect(pathsOf(requests)).toEqual(Array(count).fill(line.replace(' ', ' /v1')));
    expect(requests[0]?.redirect).toBe('manual');
  }
});

test('all attempts of a create have one Idempotency-Key, which its error has', async () => {
  const { store, requests } = clientWith([lost, unavailable, rex, lost]);
  await outcomeOf(store.createPet(REX));
  const error = await outcomeOf(store.createPet(REX, { maxAttempts: 1 }));
  await outcomeOf(store.createPet(REX, { idempotencyKey: 'mine', maxAttempts: 1 }));
  // The store rejects it. Without a key, a retry could create twice.
  await outcomeOf(store.createPet(REX, { idempotencyKey: '', maxAttempts: 1 }));
  const keys = headerOf(requests, 'idempotency-key');
  const [first, , , second] = keys;
  expect(keys).toEqual([first, first, first, second, 'mine', '']);
  expect(second).not.toBe(first);
  expect(error).toMatchObject({ idempotencyKey: second });
});

/** The milliseconds between the attempts of a call. */
async function pausesAfter(answers: Answer[], options = {}) {
  const { store, times } = clientWith(answers);
  await outcomeOf(store.createPet(REX, options));
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

const retryAfter = (value: string) => problem(429, 'rate_limited', { 'Retry-After': value });

test('the pauses double, up to 4 s, and have a random part', async () => {
  const failures = Array(8).fill(unavailable);
  const pauses = [125, 250, 500, 1000, 2000, 4000, 4000];
  expect(await pausesAfter(failures, { maxAttempts: 8 })).toEqual(pauses);
  vi.spyOn(Math, 'random').mockReturnValue(1);
  expect(await pausesAfter([retryAfter('10'), rex])).toEqual([12_750]);
});

test('Retry-After makes a pause longer, unless the call would then miss its deadline', async () => {
  const failures = ['soon', '-9'].map(retryAfter);
  expect(await pausesAfter([...failures, rex])).toEqual([125, 250]);
  expect(await pausesAfter([retryAfter('59'), rex])).toEqual([59_125]);
  expect(await pausesAfter([retryAfter('60'), rex])).toEqual([]);
  const { store } = clientWith([retryAfter('59'), rex], { deadlineMs: 59_000 });
  expect(await outcomeOf(store.getPet(1n))).toMatchObject({ code: 'rate_limited' });
});

test('an attempt without a response, or without the end of its body, is retried', async () => {
  const unfinished = reply(new ReadableStream());
  expect(await pausesAfter([silence, unfinished, rex])).toEqual([15_125, 15_250]);
});

test('a call ends at its deadline, and its error has the last failure', async () => {
  const { store } = clientWith([limited, silence], { attemptTimeoutMs: Infinity });
  expect(await outcomeOf(store.createPet(REX))).toMatchObject({
    code: 'deadline_exceeded',
    cause: { code: 'rate_limited' },
    // The attempt that the deadline ended.
    outcomeUnknown: true,
    idempotencyKey: expect.any(String),
  });
  const slow: Answer = () => new Promise((resolve) => setTimeout(resolve, 50_000)).then(rex);
  const limits = { deadlineMs: Infinity, attemptTimeoutMs: Infinity };
  expect(await pausesAfter([slow], limits)).toEqual([]);
  // Such as an environment variable that is not set.
  expect(await pausesAfter([unavailable, rex], { deadlineMs: NaN })).toEqual([]);
});

test('a signal ends an attempt and a pause at once, and its reason is the cause', async () => {
  for (const answer of [silence, retryAfter('30')]) {
    const controller = new AbortController();
    const { signal } = controller;
    const { store, requests } = clientWith([answer]);
    const call = store.updatePet(1n, {}, { signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1);
    controller.abort('enough');
    expect(await call).toMatchObject({ code: 'aborted', cause: 'enough' });
    expect(requests).toHaveLength(1);
    expect(requests[0]?.signal.aborted).toBe(answer === silence);
    // Otherwise, a signal that lives as long as the program would keep memory of every call.
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  }
});

test('a call with an aborted signal sends nothing', async () => {
  const { store, requests } = clientWith([rex]);
  const error = await outcomeOf(store.createPet(REX, { signal: AbortSignal.abort() }));
  expect(error).toMatchObject({ code: 'aborted', outcomeUnknown: false });
  expect(requests).toEqual([]);
});

test.each([
  { answers: [lost, noPet], code: undefined },
  // Nothing was deleted.
  { answers: [limited, noPet], code: 'pet_not_found' },
  // The response to a GET: a proxy has changed the method.
  { answers: [rex], code: 'invalid_response' },
  // Another server.
  { answers: [lost, problem(404, 'not_found')], code: 'not_found' },
])('a delete that may have been carried out before succeeds: $code', async ({ answers, code }) => {
  const { store } = clientWith(answers);
  expect(Object(await outcomeOf(store.deletePet(1n))).code).toBe(code);
});
