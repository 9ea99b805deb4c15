/** Which failures are repeated. The clock is a fake. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AnimalStore } from '../../client/src/index.ts';
import type { Operation } from '../../client/src/operations.ts';
import { METHODS } from './documents.ts';
import { ANSWERS, type Answer, clientWith, json, outcomeOf, problem, REX } from './fake.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const { rex, limited, unavailable, lost } = ANSWERS;
const endless: Answer = () => new Response(new ReadableStream());
const invalid = problem(400, 'invalid_request');
const noPet = problem(404, 'pet_not_found');
const noPath = problem(404, 'not_found');
const conflict = problem(409, 'invalid_transition');

const CALLS: Record<Operation, (store: AnimalStore) => Promise<unknown>> = {
  listPets: (store) => store.listPets().page(),
  createPet: (store) => store.createPet(REX),
  getPet: (store) => store.getPet(1n),
  updatePet: (store) => store.updatePet(1n, { name: 'Max' }),
  deletePet: (store) => store.deletePet(1n),
  listOrders: (store) => store.listOrders().page(),
  placeOrder: (store) => store.placeOrder({ petId: 1n }),
  getOrder: (store) => store.getOrder(1n),
  updateOrder: (store) => store.updateOrder(1n, { status: 'approved' }),
  getHealth: (store) => store.getHealth(),
};

describe.each(Object.entries(CALLS))('%s, as README.md says,', (method, call) => {
  const sent = METHODS.find((row) => row.method === method)?.repeated === 'yes' ? 4 : 1;
  const isWrite = !/^(list|get)/.test(method);

  test.each([
    [sent, 'a 503', unavailable, { code: 'service_unavailable', outcomeUnknown: isWrite }],
    [sent, 'a lost connection', lost, { code: 'network_error', outcomeUnknown: isWrite }],
    [sent, 'a body that never ends', endless, { outcomeUnknown: isWrite }],
    [4, 'a 429', limited, { code: 'rate_limited', outcomeUnknown: false }],
    [1, 'a 400', invalid, { code: 'invalid_request', outcomeUnknown: false }],
  ])('is sent %d times in all, when each answer is %s', async (attempts, _, answer, failure) => {
    const { store, requests } = clientWith([answer]);
    expect(await outcomeOf(call(store))).toMatchObject({ ...failure, attempts });
    expect(requests).toHaveLength(attempts);
  });
});

const { deletePet, updateOrder } = CALLS;

test.each([
  ['a delete that finds no animal', deletePet, [noPet], { outcomeUnknown: false }],
  ['a repeated delete that finds no path', deletePet, [lost, noPath], { outcomeUnknown: true }],
  ['a repeated update that is rejected', updateOrder, [lost, conflict], { outcomeUnknown: true }],
])('%s fails', async (_, call, answers, failure) => {
  const outcome = await outcomeOf(call(clientWith(answers).store));
  expect(outcome).toMatchObject({ name: 'StoreError', ...failure });
});

test('a repeated delete that finds no animal succeeds', async () => {
  expect(await outcomeOf(deletePet(clientWith([lost, noPet]).store))).toBe(undefined);
});

test('a create is repeated with the same random key, or with that of the caller', async () => {
  const { store, requests } = clientWith([lost, rex, lost, rex]);
  await outcomeOf(store.createPet(REX));
  await outcomeOf(store.placeOrder({ petId: 1n }, { idempotencyKey: 'mine' }));
  const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'));
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], 'mine', 'mine']);
});

test('a mistake in a custom fetch is thrown at once', async () => {
  const fetch = vi.fn(async () => JSON.parse('null').body);
  const call = clientWith([], { fetch }).store.getHealth();
  expect(await outcomeOf(call)).toBeInstanceOf(TypeError);
  expect(fetch).toHaveBeenCalledTimes(1);
});

// Those of other runtimes are in suite.ts.
test.each(['NetworkError when attempting to fetch resource.', 'Load failed'])(
  'a custom fetch may pass on the error of Firefox or Safari: %s',
  async (message) => {
    const { store } = clientWith([() => Promise.reject(new TypeError(message)), json([])]);
    expect(await outcomeOf(store.listPets().page())).toMatchObject({ items: [] });
  },
);
