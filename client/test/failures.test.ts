/** Which failures are retried, and how calls end. The clock is a fake. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { operations } from '../../test/support/contract.ts';
import type { StoreOptions } from '../src/index.ts';
import { METHODS } from './documents.ts';
import {
  type Answer,
  CALLS,
  type Call,
  clientWith,
  headerOf,
  limited,
  lost,
  outcomeOf,
  pathsOf,
  problem,
  REX,
  refused,
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
function wordsOf(error: unknown) {
  const { code, message, attempts, outcomeUnknown } = Object(error);
  const outcome = outcomeUnknown ? ', perhaps carried out' : '';
  return `${code} (${message}) after ${attempts} attempts and ${Date.now()} ms${outcome}`;
}

const noPet = problem(404, 'pet_not_found');
const invalid = problem(400, 'invalid_request');

test.each(METHODS)('$name is sent and retried as README.md says', async (row) => {
  const { name = '', request, retried } = row;
  const attempts = retried === 'yes' ? 4 : 1;
  const outcomeUnknown = !request.startsWith('GET');
  const described = operations.find(({ operationId }) => operationId === name);
  for (const { answer, ...failure } of [
    { answer: unavailable, code: 'service_unavailable', attempts, outcomeUnknown },
    { answer: lost, code: 'network_error', attempts, outcomeUnknown },
    { answer: limited, code: 'rate_limited', attempts: 4, outcomeUnknown: false },
    { answer: invalid, code: 'invalid_request', attempts: 1, outcomeUnknown: false },
  ]) {
    const { store, requests } = clientWith([answer]);
    const call = CALLS[name]?.(store, { headers: { traceparent: 'mine' } });
    expect(await outcomeOf(call)).toMatchObject(failure);
    const line = request.replace(/{\w+}/g, '1');
    expect(pathsOf(requests)[0]?.replace(/\?$/, '')).toBe(line);
    expect(headerOf(requests, 'traceparent')).toEqual(Array(failure.attempts).fill('mine'));
    expect(await requests[0]?.text()).toBe(JSON.stringify(described?.exampleBody) ?? '');
  }
});

const createPet: Call = (store, options) => store.createPet(REX, options);
const updatePet: Call = (store) => store.updatePet(1n, { name: 'Max' });
const deletePet: Call = (store) => store.deletePet(1n);
const retryAfter = (value: string) => problem(429, 'rate_limited', { 'Retry-After': value });

type Failure = {
  /** Default: `createPet`. */
  call?: Call;
  /** The last one is given again and again. Default: none, because nothing is sent. */
  answers?: Answer[];
  /** Default: 4 attempts of 15 s, within 60 s. */
  options?: Partial<StoreOptions>;
  /** What `Math.random` returns. Default: 0, which makes the shortest pauses: 125 ms, 250 ms, 500 ms. */
  random?: number;
  /** The code, the message, the attempts and the time that passed, as `wordsOf` writes them. */
  ends: string;
  /** Further fields of the error. Default: none. */
  details?: object;
};

/** Calls that fail, by what the user gets. */
const FAILURES: Record<string, Failure> = {
  'an error has the code and the fields that only a newer service has': {
    answers: [reply('{"code":"new_code","message":"New.","petId":7}', { status: 409 })],
    ends: 'new_code (New.) after 1 attempts and 0 ms',
    details: { status: 409, body: { petId: 7n }, requestId: undefined, idempotencyKey: undefined },
  },
  'a delete that finds no animal after a 429, which deleted nothing, fails': {
    call: deletePet,
    answers: [limited, noPet],
    ends: 'pet_not_found (a message) after 2 attempts and 125 ms',
  },
  'a retried delete that finds no path was perhaps carried out': {
    call: deletePet,
    answers: [lost, problem(404, 'not_found')],
    ends: 'not_found (a message) after 2 attempts and 125 ms, perhaps carried out',
  },
  'a delete that is answered with a 503 fails, whatever its code': {
    call: (store) => store.deletePet(1n, { maxAttempts: 1 }),
    answers: [problem(503, 'host_not_found')],
    ends: 'host_not_found (a message) after 1 attempts and 0 ms, perhaps carried out',
  },
  'a delete that is answered with an empty 200 fails': {
    call: deletePet,
    answers: [reply('')],
    ends: 'invalid_response (Not a response of the store: 200 text/plain;charset=UTF-8 ) after 1 attempts and 0 ms, perhaps carried out',
  },
  'a call goes on when the clock of the machine is set forward': {
    answers: [() => vi.setSystemTime(1e9) && limited(), invalid],
    ends: 'invalid_request (a message) after 2 attempts and 1000000125 ms',
  },
  // A browser gives a redirect the status 0.
  'a redirect that a browser hides was perhaps carried out': {
    answers: [async () => ({ status: 0, headers: new Headers(), text: async () => 'a page' })],
    ends: 'invalid_response (Not a response of the store: 0  a page) after 1 attempts and 0 ms, perhaps carried out',
  },
  'a body that is refused after its headers was perhaps carried out': {
    call: updatePet,
    answers: [reply(new ReadableStream({ pull: refused }))],
    ends: 'network_error (The request failed: fetch failed: ECONNREFUSED) after 1 attempts and 0 ms, perhaps carried out',
  },
  'a 408 and a 425 are retried like a 503': {
    answers: [problem(408, 'timeout'), problem(425, 'too_early'), invalid],
    ends: 'invalid_request (a message) after 3 attempts and 375 ms, perhaps carried out',
  },
  "a service's error with a code of the client ends after four attempts": {
    answers: [problem(503, 'api_key_failed')],
    ends: 'api_key_failed (a message) after 4 attempts and 875 ms, perhaps carried out',
  },
  'an attempt without a response, and one whose body never ends, end after attemptTimeoutMs': {
    call: (store) => store.createPet(REX, { maxAttempts: 2, attemptTimeoutMs: 1_000 }),
    answers: [silence, async () => new Response(new ReadableStream())],
    ends: 'network_error (The request failed: Timeout after 1000 ms.) after 2 attempts and 2125 ms, perhaps carried out',
    details: { status: 200, cause: { name: 'TimeoutError' } },
  },
  'a call ends after 60 s, and its error has the failure of the last attempt': {
    answers: [unavailable, limited, silence],
    options: { attemptTimeoutMs: 90_000, signal: new AbortController().signal },
    ends: 'deadline_exceeded (Timeout after 60000 ms.) after 3 attempts and 60000 ms, perhaps carried out',
    details: {
      cause: { name: 'TimeoutError', cause: { code: 'rate_limited' } },
      requestId: 'id-429',
      idempotencyKey: expect.any(String),
    },
  },
  'the lower bound of random pauses doubles up to 4 s': {
    answers: [unavailable],
    options: { maxAttempts: 8 },
    random: 0.6,
    ends: 'service_unavailable (a message) after 8 attempts and 19000 ms, perhaps carried out',
  },
  'a call fails at once when its next pause would reach the deadline': {
    answers: [retryAfter('40'), retryAfter('30')],
    options: { deadlineMs: 70_375 },
    ends: 'rate_limited (a message) after 2 attempts and 40125 ms',
    details: { retryAfterSeconds: 30 },
  },
  'a call without a deadline waits for Retry-After, and up to a quarter longer at random': {
    answers: [retryAfter('100'), invalid],
    options: { deadlineMs: Number.POSITIVE_INFINITY },
    random: 1,
    ends: 'invalid_request (a message) after 2 attempts and 125250 ms',
  },
  'a Retry-After that is not a number of seconds adds nothing to a pause': {
    answers: [retryAfter('Infinity'), retryAfter('1e3'), retryAfter('20, 90'), invalid],
    ends: 'invalid_request (a message) after 4 attempts and 875 ms',
  },
  'a call whose apiKey function returns an invalid key sends nothing': {
    options: { apiKey: () => 'secret key' },
    ends: 'api_key_failed (The apiKey function failed: apiKey: must be printable ASCII without spaces) after 0 attempts and 0 ms',
    details: { cause: { name: 'TypeError' } },
  },
  'a call whose apiKey function finds no server at a retry was perhaps carried out': {
    answers: [lost],
    options: { apiKey: vi.fn().mockReturnValueOnce('key').mockImplementation(refused) },
    ends: 'api_key_failed (The apiKey function failed: fetch failed: ECONNREFUSED) after 1 attempts and 125 ms, perhaps carried out',
  },
  'an apiKey function that hangs fails a call after attemptTimeoutMs': {
    options: { apiKey: silence },
    ends: 'api_key_failed (The apiKey function failed: Timeout after 15000 ms.) after 0 attempts and 15000 ms',
  },
};

test.each(Object.entries(FAILURES))(
  '%s',
  async (_, { call = createPet, answers = [], options, random = 0, ends, details }) => {
    vi.spyOn(Math, 'random').mockReturnValue(random);
    const { store, requests } = clientWith(answers, options);
    const outcome = await outcomeOf(call(store));
    expect(wordsOf(outcome)).toBe(ends);
    expect(outcome).toMatchObject({ attempts: requests.length, ...details });
  },
);

test.each([
  { status: 200, body: 'null' },
  { status: 200, body: '[]' },
  // A character that does not end.
  { status: 200, body: Uint8Array.of(0x7b, 0x7d, 0xf0) },
  { status: 204, body: null },
  { status: 300, body: '{"code":"not_found","message":"a message"}' },
  { status: 404, body: '{"code":7,"message":"a message"}' },
  { status: 404, body: '{"code":"not_found"}' },
])('a $status with $body is an invalid_response', async ({ status, body }) => {
  const outcome = await outcomeOf(createPet(clientWith([reply(body, { status })]).store));
  expect(outcome).toMatchObject({
    code: 'invalid_response',
    status,
    attempts: 1,
    outcomeUnknown: status < 400,
  });
});

test.each([
  { thrown: new TypeError('a', { cause: new Error('b') }), shown: ': a: b' },
  // As Bun reports it, which may have sent the request before.
  { thrown: Object.assign(new Error('a'), { code: 'ECONNREFUSED' }), shown: ': a' },
  { thrown: 'a text', shown: ': a text' },
  { thrown: undefined, shown: '' },
  // Not what a framework throws to redirect.
  { thrown: Object.assign(new Error('a'), { status: 502 }), shown: ': a' },
  // A failed request of XMLHttpRequest.
  { thrown: { status: 0 }, shown: '' },
])('a fetch that rejects with $thrown is a network_error$shown', async ({ thrown, shown }) => {
  const outcome = await outcomeOf(createPet(clientWith([() => Promise.reject(thrown)]).store));
  expect(outcome).toMatchObject({
    code: 'network_error',
    attempts: 4,
    status: undefined,
    outcomeUnknown: true,
    message: `The request failed${shown}`,
  });
});

/** What frameworks throw to leave the caller's code. */
const NEXT_REDIRECT = Object.assign(new Error('NEXT_REDIRECT'), {
  digest: 'NEXT_REDIRECT;replace;/login;307;',
});
const SVELTE_REDIRECT = { status: 303, location: '/login' };

test.each([
  { framework: 'Next.js', thrown: NEXT_REDIRECT },
  { framework: 'SvelteKit', thrown: SVELTE_REDIRECT },
  { framework: 'React Router', thrown: new Response(null, { status: 302 }) },
])('what $framework throws to redirect reaches the caller at once', async ({ thrown }) => {
  const redirect = () => Promise.reject(thrown);
  const fromFetch = clientWith([redirect]);
  expect(await outcomeOf(createPet(fromFetch.store))).toBe(thrown);
  expect(fromFetch.requests).toHaveLength(1);
  const fromApiKey = clientWith([], { apiKey: redirect });
  expect(await outcomeOf(createPet(fromApiKey.store))).toBe(thrown);
  expect(Date.now()).toBe(0);
});

/** The reason says nothing about the request: its outcome is unknown. */
test.each([
  NEXT_REDIRECT,
  SVELTE_REDIRECT,
  new Error('a failed connection', { cause: { code: 'ECONNREFUSED' } }),
])('a create that is aborted with %o is aborted', async (cause) => {
  const controller = new AbortController();
  const { store } = clientWith([
    () => {
      controller.abort(cause);
      return silence();
    },
  ]);
  const call = store.createPet(REX, { signal: controller.signal });
  expect(await outcomeOf(call)).toMatchObject({ code: 'aborted', cause, outcomeUnknown: true });
});

/** The codes of Node.js if there is no connection, or the certificate of the server is refused, before anything is sent. */
const UNSENT = [
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'CERT_HAS_EXPIRED'],
  ...['DEPTH_ZERO_SELF_SIGNED_CERT', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'SELF_SIGNED_CERT_IN_CHAIN'],
];

/** The causes of errors of `fetch`. Those of real runtimes are in suite.ts. */
test.each([
  ...UNSENT.map((code) => ({ cause: { code }, isUnsent: true })),
  // The server refuses the certificate of the client, perhaps later.
  { cause: { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' }, isUnsent: false },
  // A host with several addresses.
  { cause: new AggregateError([{ code: 'ETIMEDOUT', syscall: 'connect' }]), isUnsent: true },
  // These can also end a connection.
  { cause: { code: 'ETIMEDOUT', syscall: 'read' }, isUnsent: false },
  { cause: { code: 'EHOSTUNREACH' }, isUnsent: false },
])('an update that fails with $cause is retried: $isUnsent', async ({ cause, isUnsent }) => {
  const { store } = clientWith([() => Promise.reject(new TypeError('a', { cause }))]);
  expect(await outcomeOf(updatePet(store))).toMatchObject({
    code: 'network_error',
    attempts: isUnsent ? 4 : 1,
    outcomeUnknown: !isUnsent,
  });
});

test.each(METHODS.filter(({ request }) => request.startsWith('DELETE')))(
  'a retried $name that finds nothing succeeds',
  async ({ name = '' }) => {
    const { store } = clientWith([lost, problem(404, 'toy_not_found')]);
    expect(await outcomeOf(CALLS[name]?.(store))).toBe(undefined);
  },
);

test('a create is retried with a random or a given key, which the error has', async () => {
  const { store, requests } = clientWith([lost]);
  const failure = await outcomeOf(store.createPet(REX));
  const mine = 'm'.repeat(255);
  // The option comes before a header.
  const given = { idempotencyKey: mine, headers: { 'Idempotency-Key': 'other' } };
  await outcomeOf(store.createPet(REX, given));
  await outcomeOf(store.createPet(REX));
  const keys = headerOf(requests, 'Idempotency-Key');
  expect(failure).toMatchObject({ idempotencyKey: keys[0] });
  expect([...new Set(keys)]).toEqual([keys[0], mine, expect.stringMatching(/^\d+-\d+$/)]);
});

test('a call that is aborted while its key is fetched, or before, sends nothing', async () => {
  const controller = new AbortController();
  const apiKey = vi.fn(async () => {
    controller.abort('enough');
    return 'key';
  });
  const { store, requests } = clientWith([rex], { apiKey });
  const call = () => outcomeOf(store.createPet(REX, { signal: controller.signal }));
  const message = 'The call was aborted.';
  const aborted = { code: 'aborted', message, cause: 'enough', outcomeUnknown: false };
  expect(await call()).toMatchObject(aborted);
  // Now the signal is aborted before the call.
  expect(await call()).toMatchObject(aborted);
  expect(requests).toEqual([]);
  expect(apiKey).toHaveBeenCalledTimes(1);
});

test('a call that pauses ends with the signal of the client, and leaves nothing', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
  const started = vi.spyOn(globalThis, 'setTimeout');
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  const cause = new DOMException('enough', 'TimeoutError');
  const controller = new AbortController();
  const { signal } = controller;
  const added = vi.spyOn(signal, 'addEventListener');
  const removed = vi.spyOn(signal, 'removeEventListener');
  const { store } = clientWith([limited], { signal });
  const failure = { code: 'aborted', cause, attempts: 1, requestId: 'id-429' };
  const call = createPet(store);
  setTimeout(() => controller.abort(cause), 1);
  expect(await outcomeOf(call)).toMatchObject(failure);
  // Not at the end of the pause.
  expect(Date.now()).toBe(1);
  // Otherwise a signal that lives as long as the program would keep memory of every call.
  expect(removed.mock.calls).toEqual(added.mock.calls);
  // Of the call, the attempt and the pause. Servers of this process have other timers.
  for (const ms of [60_000, 15_000, 125]) {
    const index = started.mock.calls.findIndex((args) => args[1] === ms);
    expect(cleared).toHaveBeenCalledWith(started.mock.results[index]?.value);
  }
});

test('the client has a method for each operation, and no other but session', () => {
  const methods = [...METHODS.map(({ name }) => name), 'session'];
  expect(Object.keys(clientWith([]).store)).toEqual(methods);
});
