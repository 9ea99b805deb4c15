/**
 * Retries, time limits and aborts. The clock is a fake, and all pauses are as short as possible.
 */
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { beforeEach, expect, test, vi } from 'vitest';
import { operations } from '../../test/support/contract.ts';
import { sleep, within } from '../src/within.ts';
import {
  type Answer,
  CALLS,
  clientWith,
  headerOf,
  limited,
  lost,
  outcomeOf,
  problem,
  REX,
  reply,
  rex,
  send,
  silence,
  unavailable,
} from './fake.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const source = readFileSync('client/src/store.ts', 'utf8');
const noPet = problem(404, 'pet_not_found');

test.each(operations)(
  '$operationId is a method, whose comment has its stability',
  ({ operationId, operation }) => {
    expect(CALLS.flat()).toContain(operationId);
    const tag = operation.deprecated ? '@deprecated' : (operation['x-stability'] ?? 'Stable');
    expect(source).toMatch(new RegExp(`${tag}[^/]*/[^/]* ${operationId}\\(`));
  },
);

test.for(CALLS)('%s is sent unless it is aborted, and retried if that is safe', async (call) => {
  const [line] = call;
  // A retry of it could overwrite changes of other clients.
  const attempts = line === 'PATCH /pets/7' ? 1 : 4;
  const isWrite = !line.startsWith('GET');
  for (const [answer, count, outcomeUnknown, signal] of [
    [problem(408, 'timeout'), attempts, isWrite],
    [lost, attempts, isWrite],
    [limited, 4, false],
    [problem(400, 'invalid_request'), 1, false],
    [limited, 0, false, AbortSignal.abort()],
  ] as const) {
    const { store, lines } = clientWith([answer]);
    expect(await outcomeOf(send(store, call, { signal }))).toMatchObject({ outcomeUnknown });
    expect(lines).toEqual(Array(count).fill(line));
  }
});

test('all attempts of a create have one Idempotency-Key, which its error has', async () => {
  // A page over http has no crypto.randomUUID.
  vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto) });
  const { store, requests } = clientWith([lost, unavailable, rex, lost]);
  await outcomeOf(store.createPet(REX));
  const error = await outcomeOf(store.createPet(REX, { maxAttempts: 1 }));
  // The store rejects it. Without a key, a retry could create twice.
  await outcomeOf(store.createPet(REX, { idempotencyKey: '', maxAttempts: 1 }));
  const keys = headerOf(requests, 'idempotency-key');
  const [first, , , second] = keys;
  expect(first).toMatch(/^(\d+-){15}\d+$/);
  expect(keys).toEqual([first, first, first, second, '']);
  expect(second).not.toBe(first);
  expect(error).toMatchObject({ idempotencyKey: second });
});

/** The milliseconds between the attempts of a call. */
async function pausesAfter(answers: Answer[], options = {}) {
  const { store, times } = clientWith(answers);
  await outcomeOf(store.createPet(REX, options));
  return times.slice(1).map((time, index) => time - (times[index] ?? 0));
}

const retryAfter = (value: string, status = 429) => problem(status, 'a', { 'Retry-After': value });

test('the pauses double, up to 4 s, and have a random part', async () => {
  const pauses = [125, 250, 500, 1000, 2000, 4000, 4000];
  expect(await pausesAfter([problem(500, 'a')], { maxAttempts: 8 })).toEqual(pauses);
  vi.spyOn(Math, 'random').mockReturnValue(1);
  expect(await pausesAfter([retryAfter('10'), rex])).toEqual([12_750]);
});

test('Retry-After makes a pause longer, unless the call would then miss its deadline', async () => {
  expect(await pausesAfter([retryAfter('soon'), retryAfter('-9'), rex])).toEqual([125, 250]);
  expect(await pausesAfter([retryAfter('59', 503), rex])).toEqual([59_125]);
  expect(await pausesAfter([retryAfter('59'), rex], { deadlineMs: 59_125 })).toEqual([]);
});

test('an attempt without a response, or without the end of its body, is retried', async () => {
  expect(await pausesAfter([silence, reply(new ReadableStream()), rex])).toEqual([15_125, 15_250]);
});

test('a limit of a call replaces that of the client', async () => {
  const { store, times } = clientWith([silence], {
    deadlineMs: 9,
    attemptTimeoutMs: 9,
    maxAttempts: 9,
  });
  const call = store.getPet(1n, { deadlineMs: 9_000, attemptTimeoutMs: 100, maxAttempts: 2 });
  expect(await outcomeOf(call)).toMatchObject({
    message: 'The request failed: Timeout after 100 ms.',
  });
  expect(times).toEqual([0, 225]);
});

test('a call ends at its deadline, and its error has the last failure', async () => {
  const { store } = clientWith([limited, silence], { attemptTimeoutMs: Infinity });
  const call = store.createPet(REX);
  const ended = call.catch(() => performance.now());
  // A deadline does not depend on the clock of the computer.
  vi.setSystemTime(9e12);
  const error = await outcomeOf(call);
  expect(error).toMatchObject({
    code: 'deadline_exceeded',
    message: 'The deadline is over.',
    cause: { name: 'StoreError', code: 'rate_limited' },
    // The attempt that the deadline ended.
    outcomeUnknown: true,
  });
  expect(JSON.stringify(error)).not.toContain('cause');
  expect(await ended).toBe(60_000);
  // Such as an environment variable that is not set.
  expect(await pausesAfter([unavailable, rex], { deadlineMs: NaN })).toEqual([]);
});

test.each([
  [2, 'rate_limited'],
  // A timer can fire a millisecond early.
  [1, 'deadline_exceeded'],
])('a failure %s ms before the deadline is %s', async (deadlineMs, code) => {
  const call = clientWith([limited], { deadlineMs }).store.getPet(1n);
  expect(await outcomeOf(call)).toMatchObject({ code });
});

test.each([
  [-1, 0],
  [Infinity, 2 ** 31 - 1],
])('the timer for %s ms is one that runtimes have', (ms, used) => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  within(ms, undefined, silence);
  sleep(ms, undefined);
  expect(timer.mock.calls.map(([, given]) => given)).toEqual([used, used]);
});

test('a signal ends an attempt and a pause at once, and its reason is the cause', async () => {
  for (const answer of [silence, retryAfter('30')]) {
    const controller = new AbortController();
    const { signal } = controller;
    const { store, requests } = clientWith([limited, answer]);
    const call = store.createPet(REX, { signal });
    await vi.advanceTimersByTimeAsync(126);
    // Otherwise, a signal that lives as long as the program would keep memory of every pause.
    expect(getEventListeners(signal, 'abort')).toHaveLength(1);
    controller.abort('enough');
    await expect(call).rejects.toMatchObject({
      code: 'aborted',
      message: 'The call was aborted.',
      cause: 'enough',
      outcomeUnknown: answer === silence,
    });
    expect(requests[1]?.signal.reason).toBe(answer === silence ? 'enough' : undefined);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(vi.getTimerCount()).toBe(0);
  }
});

test.each([
  [undefined, [lost, noPet]],
  // Nothing was deleted.
  ['pet_not_found', [limited, noPet]],
  // The response to a GET: a proxy has changed the method.
  ['invalid_response', [rex]],
  // Another server.
  ['not_found', [lost, problem(404, 'not_found')]],
])('a delete that may have been carried out before succeeds: %s', async (code, answers) => {
  const call = clientWith(answers).store.deletePet(1n);
  expect(Object(await outcomeOf(call)).code).toBe(code);
});
