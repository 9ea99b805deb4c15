/** Every operation while D1 fails: its response, the single call of D1, and what D1 then stores. */
import { beforeEach, expect, test } from 'vitest';
import { operations } from '../contract.ts';
import {
  contents,
  deletePet,
  expectError,
  insertOrder,
  insertPets,
  updateOrder,
  updatePet,
} from '../orders/steps.ts';
import { type Reply, startStore } from '../store.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });

const AVAILABLE = 'animal 1 Rex 3 available';
const ORDERED = 'animal 2 Rex 3 pending';
const ORDER = 'order 1 of 2 approved';
beforeEach(async () => {
  await insertPets(store, 'available', 'pending');
  await insertOrder(store, 2, 'approved');
});

const create = (key: string | null = null) =>
  store.create({ name: 'Max', categoryId: 3 }, { headers: { 'idempotency-key': key } });
const placeOrder = (key: string | null = null) =>
  store.placeOrder({ petId: 1 }, { headers: { 'idempotency-key': key } });

type Operation = {
  name: string;
  send: () => Promise<Reply>;
  /** Of the 503. */
  message: string;
  /** The contents of D1 after the operation has taken effect once. */
  after: unknown[];
  /** The status of the same request after that. */
  again: number;
};

const RECORD = expect.stringMatching(/^key /);
const KEYED_MESSAGE =
  'The database did not respond. It is unknown whether the request was carried out. Retry with the same Idempotency-Key: it is carried out at most once.';

const KEYED: Operation[] = [
  {
    name: 'createPet with a key',
    send: () => create('k'),
    message: KEYED_MESSAGE,
    after: [AVAILABLE, ORDERED, 'animal 3 Max 3', RECORD, ORDER],
    again: 201,
  },
  {
    name: 'placeOrder with a key',
    send: () => placeOrder('k'),
    message: KEYED_MESSAGE,
    after: ['animal 1 Rex 3 pending', ORDERED, RECORD, ORDER, 'order 2 of 1 placed'],
    again: 201,
  },
];

const WRITES: Operation[] = [
  ...KEYED,
  {
    name: 'createPet',
    send: create,
    message:
      'The database did not respond. It is unknown whether the animal was added. Check before you retry. To make retries safe, send an Idempotency-Key with the first request.',
    after: [AVAILABLE, ORDERED, 'animal 3 Max 3', ORDER],
    again: 201,
  },
  {
    name: 'updatePet',
    send: () => updatePet(store, 1, { name: 'Max', status: 'sold' }),
    message:
      'The database did not respond. It is unknown whether the animal was changed. Check before you retry: the same change could overwrite a later one of another client.',
    after: ['animal 1 Max 3 sold', ORDERED, ORDER],
    again: 200,
  },
  {
    name: 'deletePet',
    send: () => deletePet(store, 1),
    message:
      'The database did not respond. It is unknown whether the animal was deleted. A retry is safe: 404 means that the animal is deleted.',
    after: [ORDERED, ORDER],
    again: 404,
  },
  {
    name: 'placeOrder',
    send: placeOrder,
    message:
      'The database did not respond. It is unknown whether the order was placed. Check before you retry. To make retries safe, send an Idempotency-Key with the first request.',
    after: ['animal 1 Rex 3 pending', ORDERED, ORDER, 'order 2 of 1 placed'],
    again: 409,
  },
  {
    name: 'updateOrder',
    send: () => updateOrder(store, 1, 'delivered'),
    message:
      'The database did not respond. It is unknown whether the order was changed. A retry is safe: setting the current status again changes nothing.',
    after: [AVAILABLE, 'animal 2 Rex 3 sold', 'order 1 of 2 delivered'],
    again: 200,
  },
];

const READS = {
  listPets: '/v1/pets',
  getPet: '/v1/pets/1',
  listOrders: '/v1/store/orders',
  getOrder: '/v1/store/orders/1',
};

test('every operation of the description is tried while D1 fails', () => {
  const tried = new Set([...Object.keys(READS), ...WRITES.map(({ name }) => name)]);
  const described = operations.map(({ operation }) => operation.operationId);
  expect(described.filter((id) => !tried.has(id))).toEqual(['getHealth']);
});

/** Sends an operation while its call of D1 fails: the response is its 503, after one call. */
async function expectUnavailable(send: Operation['send'], message: string, fault: Fault) {
  await store.fault({ d1: [fault] });
  const reply = await send();
  expectError(reply, 503, 'service_unavailable', message);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect((await store.calls()).d1).toBe(1);
}

test.each(
  Object.entries(READS).flatMap(([name, path]) => [
    { name, path, fault: 'throws' as const },
    { name, path, fault: 'hangs' as const },
  ]),
)('$name is a 503 while D1 $fault, then works', async ({ path, fault }) => {
  const read = () => store.fetch(path);
  await expectUnavailable(read, 'The database is temporarily unavailable.', fault);
  expect((await read()).status).toBe(200);
});

test.each(WRITES)('$name is a 503 when D1 fails, whether it took effect or not', async (write) => {
  const { send, message, after, again } = write;
  await expectUnavailable(send, message, 'throws');
  expect(await contents(store)).toEqual([AVAILABLE, ORDERED, ORDER]);
  await expectUnavailable(send, message, 'loses the response');
  expect(await contents(store)).toEqual(after);
  expect((await send()).status).toBe(again);
});

test('updatePet ignores an Idempotency-Key, so its 503 has its own advice', async () => {
  await store.fault({ d1: ['throws'] });
  const headers = { 'idempotency-key': 'k' };
  const reply = await store.send('PATCH', '/v1/pets/1', { name: 'Max' }, { headers });
  const advice =
    'Check before you retry: the same change could overwrite a later one of another client.';
  expectError(reply, 503, 'service_unavailable', expect.stringContaining(advice));
});

test.each(WRITES)('$name takes effect once if D1 executes it after the 503', async (write) => {
  await expectUnavailable(write.send, write.message, 'runs late');
  expect(await contents(store)).toEqual([AVAILABLE, ORDERED, ORDER]);
  // D1 executes the late call after that of the next request.
  await store.fetch('/v1/pets');
  expect(await contents(store)).toEqual(write.after);
});

test.each(KEYED)('$name takes effect once if D1 executes it after a retry', async (operation) => {
  await expectUnavailable(operation.send, operation.message, 'runs late');
  const { status, headers } = await operation.send();
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
  expect(await contents(store)).toEqual(operation.after);
});

test.each(KEYED)('a retry of $name gets the response that was lost', async (operation) => {
  await expectUnavailable(operation.send, operation.message, 'loses the response');
  const { headers, text } = await operation.send();
  expect(headers.get('idempotency-replayed')).toBe('true');
  const { pathname } = new URL(headers.get('location') ?? '');
  expect((await store.fetch(pathname)).text).toBe(text);
  expect(await contents(store)).toEqual(operation.after);
});
