/** Which failures are repeated, and how calls end. The clock is a fake. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { isStoreError, StoreError, type StoreOptions } from '../../client/src/index.ts';
import { STATUS_OF } from '../../src/errors.ts';
import { METHODS, README } from './documents.ts';
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
});
afterEach(() => {
  // First, because the spies on timers would restore those of the fake clock.
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** How a call failed, in words. */
function wordsOf(error: unknown): string {
  const { code, message, attempts, outcomeUnknown } = Object(error);
  const outcome = outcomeUnknown ? ', perhaps carried out' : '';
  return `${code} (${message}) after ${attempts} attempts and ${Date.now()} ms${outcome}`;
}

const noPet = problem(404, 'pet_not_found');
const invalid = problem(400, 'invalid_request');

test.each(Object.entries(CALLS))(
  '%s is sent and repeated as README.md says',
  async (name, call) => {
    const { request, repeated } = METHODS.find((row) => row.name === name) ?? { request: '' };
    const attempts = repeated === 'yes' ? 4 : 1;
    const outcomeUnknown = !request.startsWith('GET');
    for (const { answer, ...failure } of [
      { answer: unavailable, code: 'service_unavailable', attempts, outcomeUnknown },
      { answer: lost, code: 'network_error', attempts, outcomeUnknown },
      { answer: limited, code: 'rate_limited', attempts: 4, outcomeUnknown: false },
      { answer: invalid, code: 'invalid_request', attempts: 1, outcomeUnknown: false },
    ]) {
      const { store, requests } = clientWith([answer]);
      const outcome = await outcomeOf(call(store, { headers: { traceparent: 'mine' } }));
      expect(outcome).toMatchObject(failure);
      const path = request.replace(/{\w+}/, '1');
      expect(pathsOf(requests)[0]?.replace(/\?$/, '')).toBe(path);
      expect(headerOf(requests, 'traceparent')).toEqual(Array(failure.attempts).fill('mine'));
    }
  },
);

test('request repeats every method but PATCH', async () => {
  for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const) {
    const failure = { attempts: method === 'PATCH' ? 1 : 4, outcomeUnknown: method !== 'GET' };
    const { store } = clientWith([lost]);
    expect(await outcomeOf(store.request(method, '/toys'))).toMatchObject(failure);
  }
});

const { createPet, deletePet, updateOrder } = CALLS;
const retryAfter = (value: string) => problem(429, 'rate_limited', { 'Retry-After': value });

type Story = {
  story: string;
  call?: typeof createPet;
  answers?: Answer[];
  options?: Partial<StoreOptions>;
  random?: number;
  ends: string;
  details?: object;
};

test.each<Story>([
  {
    story: 'a newer service has a code and a field that this version does not know',
    answers: [reply('{"code":"new_code","message":"New.","petId":7}', { status: 409 })],
    ends: 'new_code (New.) after 1 attempts and 0 ms',
    details: { status: 409, body: { petId: 7n }, idempotencyKey: undefined },
  },
  {
    // With an unhandled rejection, the run would fail.
    story: 'a delete with metadata finds no animal',
    call: (store) => store.deletePet(1n).withMetadata(),
    answers: [noPet],
    ends: 'pet_not_found (a message) after 1 attempts and 0 ms',
  },
  {
    story: 'a repeated delete finds no path',
    call: deletePet,
    answers: [lost, problem(404, 'not_found')],
    ends: 'not_found (a message) after 2 attempts and 125 ms, perhaps carried out',
  },
  {
    story: 'a proxy answers a repeated delete',
    call: deletePet,
    answers: [lost, reply('<h1>', { status: 404, headers: { 'Content-Type': 'text/html' } })],
    ends: 'invalid_response (Not a response of the store: 404 text/html <h1>) after 2 attempts and 125 ms, perhaps carried out',
  },
  {
    story: 'a proxy answers a delete with an empty 200',
    call: deletePet,
    answers: [reply(new Uint8Array())],
    ends: 'invalid_response (Not a response of the store: 200  ) after 1 attempts and 0 ms, perhaps carried out',
  },
  {
    story: 'a proxy answers a delete with JSON',
    call: deletePet,
    answers: [reply('{}')],
    ends: 'invalid_response (Not a response of the store: 200 text/plain;charset=UTF-8 {}) after 1 attempts and 0 ms, perhaps carried out',
  },
  {
    story: 'a proxy redirects to another server',
    answers: [reply('x'.repeat(999), { status: 307, headers: { Location: 'https://a.example' } })],
    ends: 'invalid_response (Not a response of the store: 307 https://a.example HTML) after 1 attempts and 0 ms, perhaps carried out'.replace(
      'HTML',
      'x'.repeat(200),
    ),
  },
  {
    story: 'a repeated update is rejected',
    call: updateOrder,
    answers: [unavailable, problem(409, 'invalid_transition')],
    ends: 'invalid_transition (a message) after 2 attempts and 125 ms, perhaps carried out',
    details: { requestId: 'id-503' },
  },
  {
    story: 'the last of two responses identifies the request in the log',
    answers: [unavailable, limited],
    options: { maxAttempts: 2 },
    ends: 'rate_limited (a message) after 2 attempts and 125 ms, perhaps carried out',
    details: { requestId: 'id-429' },
  },
  {
    story: 'an attempt gets no response for 15 s',
    answers: [silence, limited],
    options: { maxAttempts: 2 },
    ends: 'rate_limited (a message) after 2 attempts and 15125 ms, perhaps carried out',
  },
  {
    story: 'a body never ends',
    call: (store) => store.createPet(REX, { maxAttempts: 2, attemptTimeoutMs: 1_000 }),
    answers: [async () => new Response(new ReadableStream())],
    ends: 'network_error (The request failed: Timeout after 1000 ms.) after 2 attempts and 2125 ms, perhaps carried out',
    details: { status: 200, cause: expect.any(DOMException) },
  },
  {
    story: 'the deadline comes before a response',
    answers: [unavailable, silence],
    options: { attemptTimeoutMs: 90_000, signal: new AbortController().signal },
    ends: 'deadline_exceeded (Timeout after 60000 ms.) after 2 attempts and 60000 ms, perhaps carried out',
    details: { cause: { name: 'TimeoutError', cause: { code: 'service_unavailable' } } },
  },
  {
    story: 'pauses double up to 8 s, half of each at random: the shortest',
    answers: [unavailable],
    options: { maxAttempts: 8 },
    ends: 'service_unavailable (a message) after 8 attempts and 11875 ms, perhaps carried out',
  },
  {
    story: 'pauses double up to 8 s, half of each at random: the longest',
    answers: [unavailable],
    options: { maxAttempts: 8 },
    random: 1,
    ends: 'service_unavailable (a message) after 8 attempts and 23750 ms, perhaps carried out',
  },
  {
    story: 'a pause would exceed the deadline',
    answers: [retryAfter('60')],
    ends: 'rate_limited (a message) after 1 attempts and 0 ms',
    details: { metadata: { retryAfterSeconds: 60 } },
  },
  {
    story: 'a pause after Retry-After has no deadline',
    answers: [retryAfter('100'), invalid],
    options: { deadlineMs: Number.POSITIVE_INFINITY },
    ends: 'invalid_request (a message) after 2 attempts and 100125 ms',
  },
  {
    story: 'a pause after Retry-After is longer by a quarter, at random',
    answers: [retryAfter('20'), invalid],
    random: 1,
    ends: 'invalid_request (a message) after 2 attempts and 25250 ms',
  },
  {
    story: 'Retry-After is a date',
    answers: [retryAfter('Thu, 01 Jan 1970 00:00:20 GMT'), invalid],
    ends: 'invalid_request (a message) after 2 attempts and 20125 ms',
  },
  {
    story: 'Retry-After is a date in the past, and no date',
    answers: [retryAfter('Wed, 31 Dec 1969 00:00:00 GMT'), retryAfter('soon'), invalid],
    ends: 'invalid_request (a message) after 3 attempts and 375 ms',
  },
  {
    story: 'an apiKey function throws',
    options: { apiKey: () => Promise.reject(new Error('vault locked')) },
    ends: 'api_key_failed (The request failed: vault locked) after 0 attempts and 0 ms',
  },
  {
    story: 'an apiKey function returns an invalid key',
    options: { apiKey: () => 'secret key' },
    ends: 'api_key_failed (The request failed: apiKey: must be a string of printable ASCII without spaces) after 0 attempts and 0 ms',
    details: { cause: expect.any(TypeError) },
  },
  {
    story: 'an apiKey function fails after an attempt that may have written',
    answers: [lost],
    options: { apiKey: vi.fn().mockReturnValueOnce('key').mockRejectedValue('locked') },
    ends: 'api_key_failed (The request failed: locked) after 1 attempts and 125 ms, perhaps carried out',
  },
  {
    story: 'an apiKey function hangs longer than attemptTimeoutMs',
    options: { apiKey: silence },
    ends: 'api_key_failed (The request failed: Timeout after 15000 ms.) after 0 attempts and 15000 ms',
  },
  {
    story: 'an apiKey function hangs longer than deadlineMs',
    options: { apiKey: silence, deadlineMs: 5_000 },
    ends: 'deadline_exceeded (Timeout after 5000 ms.) after 0 attempts and 5000 ms',
  },
])(
  '$story',
  async ({ call = createPet, answers = [], options, random = 0, ends, details = {} }) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const { store, requests } = clientWith(answers, options);
    const outcome = await outcomeOf(call(store));
    expect(wordsOf(outcome)).toBe(ends);
    expect(outcome).toMatchObject({ attempts: requests.length, ...details });
  },
);

test.each([
  { status: 200, body: 'null' },
  { status: 200, body: '"ok"' },
  { status: 200, body: '[]' },
  { status: 200, body: '{' },
  // A character that does not end.
  { status: 200, body: Uint8Array.of(0x7b, 0x7d, 0xf0) },
  { status: 204, body: null },
  { status: 302, body: '{"code":"not_found","message":"a message"}' },
  { status: 404, body: '{"code":7,"message":"a message"}' },
  { status: 404, body: '{"code":"not_found"}' },
])('a $status with the body $body is an invalid_response', async ({ status, body }) => {
  const outcome = await outcomeOf(createPet(clientWith([reply(body, { status })]).store));
  const failure = { code: 'invalid_response', status, attempts: 1, outcomeUnknown: status < 400 };
  expect(outcome).toMatchObject(failure);
});

test.each([
  {
    cause: Object.assign(new Error('a'), { cause: { code: 'ECONNREFUSED' } }),
    shown: 'a: ECONNREFUSED',
  },
  { cause: new TypeError('Cannot read', { cause: new Error('b') }), shown: 'Cannot read: b' },
  { cause: 'a string', shown: 'a string' },
  { cause: undefined, shown: '' },
  { cause: Object.create(null), shown: 'unknown' },
  { cause: { message: Symbol('odd') }, shown: 'unknown' },
])('whatever a fetch rejects with is a network_error: $shown', async ({ cause, shown }) => {
  const outcome = await outcomeOf(createPet(clientWith([() => Promise.reject(cause)]).store));
  const message = `The request failed: ${shown}`;
  const failure = { code: 'network_error', attempts: 4, status: undefined, cause, message };
  expect(outcome).toMatchObject(failure);
});

test('a repeated delete that finds no animal succeeds', async () => {
  const call = clientWith([lost, noPet]).store.deletePet(1n).withMetadata();
  const metadata = { status: 404, attempts: 2 };
  expect(await outcomeOf(call)).toMatchObject({ data: undefined, metadata });
});

test('a create is repeated with a random or a given key, which the error has', async () => {
  const { store, requests } = clientWith([lost]);
  const failure = await outcomeOf(store.createPet(REX));
  // The option comes before a header.
  const given = { idempotencyKey: 'mine', headers: { 'Idempotency-Key': 'other' } };
  await outcomeOf(store.placeOrder({ petId: 1n }, given));
  await outcomeOf(store.createPet(REX));
  const keys = headerOf(requests, 'Idempotency-Key');
  expect(failure).toMatchObject({ idempotencyKey: keys[0] });
  expect([...new Set(keys)]).toEqual([keys[0], 'mine', expect.stringMatching(/^\d+-\d+$/)]);
});

test('a call that is aborted while its key is fetched, or before, sends nothing', async () => {
  const controller = new AbortController();
  const apiKey = vi.fn(async () => {
    controller.abort('enough');
    return 'key';
  });
  const { store, requests } = clientWith([rex], { apiKey });
  for (const _ of ['while', 'before']) {
    const outcome = await outcomeOf(store.createPet(REX, { signal: controller.signal }));
    expect(outcome).toMatchObject({ code: 'aborted', cause: 'enough', outcomeUnknown: false });
  }
  expect(requests).toEqual([]);
  expect(apiKey).toHaveBeenCalledTimes(1);
});

test('calls that pause end with the signal of the client, and leave nothing', async () => {
  const warn = vi.spyOn(process, 'emitWarning');
  const started = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const controller = new AbortController();
  const added = vi.spyOn(controller.signal, 'addEventListener');
  const removed = vi.spyOn(controller.signal, 'removeEventListener');
  const { store } = clientWith([limited], { signal: controller.signal });
  const calls = Array.from({ length: 20 }, () => store.createPet(REX).catch((error) => error));
  await vi.advanceTimersByTimeAsync(1);
  controller.abort('enough');
  const failure = { code: 'aborted', cause: 'enough', attempts: 1, requestId: 'id-429' };
  for (const call of calls) expect(await call).toMatchObject(failure);
  // Otherwise a signal that lives as long as the program would keep memory of every call.
  expect(removed.mock.calls).toEqual(added.mock.calls);
  expect(cleared).toHaveBeenCalledTimes(started.mock.calls.length);
  expect(warn).not.toHaveBeenCalled();
});

test('README.md lists the codes and the operations of the service, and no others', () => {
  const [, codes = ''] = /code of the store \(([^)]*)/.exec(README) ?? [];
  expect(codes.match(/\w+/g)).toEqual(Object.keys(STATUS_OF));
  expect(METHODS.map(({ name }) => name)).toEqual(Object.keys(CALLS));
});

test('a StoreError can be made with partial metadata, and one of a copy be known', () => {
  const details = { metadata: { status: 404 }, idempotencyKey: 'mine' };
  const error = new StoreError('pet_not_found', 'No pet.', details);
  expect(error).toMatchObject({ ...details, status: 404, outcomeUnknown: false, attempts: 0 });
  expect(error.metadata).toMatchObject({ deprecation: undefined, sunset: undefined });
  const copy = Object.assign(new Error(), { name: 'StoreError' });
  expect([copy, error, new Error(), null].map(isStoreError)).toEqual([true, true, false, false]);
});
