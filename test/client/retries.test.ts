/** Which failures are repeated. The clock is a fake. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Method } from '../../client/src/index.ts';
import { METHODS } from './documents.ts';
import { ANSWERS, type Answer, CALLS, clientWith, json, outcomeOf, problem, REX } from './fake.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const { rex, limited, unavailable, lost } = ANSWERS;
const invalid = problem(400, 'invalid_request');
const noPet = problem(404, 'pet_not_found');
const noPath = problem(404, 'not_found');
const proxyPage: Answer = async () => new Response('<h1>Not here</h1>', { status: 404 });
const conflict = problem(409, 'invalid_transition');

describe.each(Object.entries(CALLS))('%s, as README.md says,', (method, call) => {
  const sent = METHODS.find((row) => row.method === method)?.repeated === 'yes' ? 4 : 1;
  const isWrite = !/^(list|get)/.test(method);

  test.each([
    [sent, 'a 503', unavailable, { code: 'service_unavailable', outcomeUnknown: isWrite }],
    [sent, 'a lost connection', lost, { code: 'network_error', outcomeUnknown: isWrite }],
    [4, 'a 429', limited, { code: 'rate_limited', outcomeUnknown: false }],
    [1, 'a 400', invalid, { code: 'invalid_request', outcomeUnknown: false }],
  ])('is sent %d times in all, when each answer is %s', async (attempts, _, answer, failure) => {
    const { store, requests } = clientWith([answer]);
    expect(await outcomeOf(call(store))).toMatchObject({ ...failure, attempts });
    expect(requests).toHaveLength(attempts);
  });
});

const { deletePet, updateOrder } = CALLS;
const emptyPage = async () => new Response('');

test.each([
  ['a delete that finds no animal', deletePet, [noPet], { outcomeUnknown: false }],
  ['a repeated delete that finds no path', deletePet, [lost, noPath], { outcomeUnknown: true }],
  ['a delete that a proxy answers with an empty 200', deletePet, [emptyPage], {}],
  ['a repeated delete that gets a page', deletePet, [lost, proxyPage], { outcomeUnknown: true }],
  ['a repeated update that is rejected', updateOrder, [lost, conflict], { outcomeUnknown: true }],
])('%s fails', async (_, call, answers, failure) => {
  const outcome = await outcomeOf(call(clientWith(answers).store));
  expect(outcome).toMatchObject({ name: 'StoreError', ...failure });
});

test('a repeated delete that finds no animal succeeds', async () => {
  expect(await outcomeOf(deletePet(clientWith([lost, noPet]).store))).toBe(undefined);
});

test('a create is repeated with the same random key, or with that of the caller', async () => {
  const { store, requests } = clientWith([lost, rex, lost, rex, rex]);
  await outcomeOf(store.createPet(REX));
  await outcomeOf(store.placeOrder({ petId: 1n }, { idempotencyKey: 'mine' }));
  await outcomeOf(store.createPet(REX));
  const keys = requests.map(({ headers }) => headers.get('Idempotency-Key') ?? '');
  expect(keys.slice(0, 4)).toEqual([expect.stringMatching(/^\d+-\d+$/), keys[0], 'mine', 'mine']);
  expect(keys[4]).not.toBe(keys[0]);
});

test('the error of a create whose outcome is unknown has its key, and that of others has none', async () => {
  const { store, requests } = clientWith([lost]);
  const failure = await outcomeOf(store.createPet(REX));
  const key = requests[0]?.headers.get('Idempotency-Key');
  expect(failure).toMatchObject({ outcomeUnknown: true, idempotencyKey: key });
  const none = { idempotencyKey: undefined };
  expect(await outcomeOf(store.updatePet(1n, {}))).toMatchObject(none);
  expect(await outcomeOf(clientWith([invalid]).store.createPet(REX))).toMatchObject(none);
});

const refused = Object.assign(new Error(''), { code: 'ECONNREFUSED' });
const wrapped = new TypeError('fetch failed', { cause: refused });

test.each([
  [wrapped, 'The request failed: fetch failed: ECONNREFUSED'],
  [new TypeError('a', { cause: new Error('b') }), 'The request failed: a: b'],
  [new TypeError('terminated'), 'The request failed: terminated'],
  [new TypeError("Cannot read properties of null (reading 'body')"), /: Cannot read/],
  ['a string', 'The request failed: a string'],
  [undefined, 'The request failed: '],
  [Object.create(null), 'The request failed: unknown'],
  [{ message: Symbol('odd') }, /: Symbol/],
])('whatever a fetch rejects with is a network_error: %#', async (cause, message) => {
  const fetch = vi.fn(() => Promise.reject(cause));
  const outcome = await outcomeOf(clientWith([], { fetch }).store.getHealth());
  const failure = { name: 'StoreError', code: 'network_error', cause, attempts: 4 };
  expect(outcome).toMatchObject({ ...failure, message: expect.stringMatching(message) });
  expect(fetch).toHaveBeenCalledTimes(4);
});

test('request sends any path with the key, the exact JSON and the retries of the client', async () => {
  const { store, requests } = clientWith([lost, json([{ id: 7 }])]);
  const body = { id: 9007199254740993n };
  const call = store.request('POST', '/toys?x={"y":1}', { body, idempotencyKey: 'mine' });
  expect(await outcomeOf(call)).toEqual([{ id: 7n }]);
  const { method, url, headers } = requests[1] ?? new Request('https://none.example');
  expect([method, url]).toEqual(['POST', 'https://animal-store.example/v1/toys?x={%22y%22:1}']);
  expect(headers.get('Authorization')).toBe('Bearer key');
  expect(headers.get('Idempotency-Key')).toBe('mine');
  expect(await requests[1]?.text()).toBe('{"id":9007199254740993}');
});

test.each<[Method, number, boolean]>([
  ['GET', 4, false],
  ['POST', 4, true],
  ['PUT', 4, true],
  ['DELETE', 4, true],
  ['PATCH', 1, true],
])('a lost %s by request is sent %d times in all', async (method, attempts, outcomeUnknown) => {
  const outcome = await outcomeOf(clientWith([lost]).store.request(method, '/toys'));
  expect(outcome).toMatchObject({ attempts, outcomeUnknown });
});

test.each(['toys', '@evil.example/toys', '.evil.example', ''])(
  'request rejects the path %j: the key could go to another host',
  async (path) => {
    const { store, requests } = clientWith([rex]);
    expect(await outcomeOf(store.request('GET', path))).toBeInstanceOf(TypeError);
    expect(requests).toEqual([]);
  },
);

test.each(['post', 'patch', 'HEAD', ''])('request rejects the method %j', async (method) => {
  const { store, requests } = clientWith([rex]);
  // @ts-expect-error: no compiler checks callers in JavaScript.
  expect(await outcomeOf(store.request(method, '/pets'))).toBeInstanceOf(TypeError);
  expect(requests).toEqual([]);
});
