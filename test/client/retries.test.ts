/** Which failures are repeated. The clock is a fake. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { AnimalStore } from '../../client/src/index.ts';
import type { Operation } from '../../client/src/operations.ts';
import { METHODS } from './documents.ts';
import {
  clientWith,
  failureOf,
  json,
  limited,
  lost,
  order,
  problem,
  REX,
  resultOf,
  rex,
  unavailable,
} from './fake.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

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
  const isRepeated = METHODS.find((row) => row.method === method)?.repeated === 'yes';
  const isRead = /^(list|get)/.test(method);

  test.each([
    ['a 503', unavailable],
    ['a lost connection', lost],
  ])(`${isRepeated ? 'is' : 'is not'} repeated after %s`, async (_, answer) => {
    const { store, requests } = clientWith([answer]);
    expect(await failureOf(call(store))).toMatchObject({
      outcomeUnknown: !isRead,
      attempts: isRepeated ? 4 : 1,
    });
    expect(requests).toHaveLength(isRepeated ? 4 : 1);
  });

  test('is repeated after a 429', async () => {
    const { store, requests } = clientWith([limited]);
    const failure = await failureOf(call(store));
    expect(failure).toMatchObject({ code: 'rate_limited', outcomeUnknown: false });
    expect(requests).toHaveLength(4);
  });

  test('is not repeated after a 400', async () => {
    const { store, requests } = clientWith([problem(400, 'invalid_request')]);
    const failure = await failureOf(call(store));
    expect(failure).toMatchObject({ code: 'invalid_request', outcomeUnknown: false, attempts: 1 });
    expect(requests).toHaveLength(1);
  });
});

test('a create is repeated with the same random key, or with that of the caller', async () => {
  const { store, requests } = clientWith([lost, rex, lost, order]);
  await resultOf(store.createPet(REX));
  await resultOf(store.placeOrder({ petId: 1n }, { idempotencyKey: 'mine' }));
  const keys = requests.map(({ headers }) => headers.get('Idempotency-Key'));
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0], 'mine', 'mine']);
});

test('a repeated delete that finds nothing succeeds', async () => {
  const { store } = clientWith([lost, problem(404, 'pet_not_found')]);
  expect(await resultOf(store.deletePet(1n))).toBe(undefined);
});

test('a delete that finds nothing at once, or no such path, fails', async () => {
  const first = await failureOf(clientWith([problem(404, 'pet_not_found')]).store.deletePet(1n));
  expect(first).toMatchObject({ code: 'pet_not_found', outcomeUnknown: false });
  const path = clientWith([lost, problem(404, 'not_found')]).store.deletePet(1n);
  expect(await failureOf(path)).toMatchObject({ code: 'not_found', outcomeUnknown: true });
});

test('an updateOrder that is rejected after a lost response has an unknown outcome', async () => {
  const { store } = clientWith([lost, problem(409, 'invalid_transition')]);
  const failure = await failureOf(store.updateOrder(1n, { status: 'approved' }));
  expect(failure).toMatchObject({ code: 'invalid_transition', outcomeUnknown: true });
});

test('a mistake in a custom fetch is thrown at once', async () => {
  const fetch = vi.fn(async () => JSON.parse('null').body);
  const call = clientWith([], { fetch }).store.getHealth();
  expect(await failureOf(call)).toBeInstanceOf(TypeError);
  expect(fetch).toHaveBeenCalledTimes(1);
});

// Those of other runtimes are in suite.ts.
test.each(['NetworkError when attempting to fetch resource.', 'Load failed'])(
  'a custom fetch may pass on the error of Firefox or Safari: %s',
  async (message) => {
    const { store } = clientWith([() => Promise.reject(new TypeError(message)), json([])]);
    expect(await resultOf(store.listPets().page())).toMatchObject({ items: [] });
  },
);
