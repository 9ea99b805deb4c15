/** Every operation while D1 fails: its response, the single call of D1, and what D1 then stores. */
import { beforeEach, expect, test } from 'vitest';
import { operations } from '../contract.ts';
import { expectError } from '../orders/steps.ts';
import { type Reply, startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { contents, create, place, move, update, remove } = clientOf(store);

beforeEach(() =>
  store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (1, '1', 1, 'available'), (2, '2', 1, 'pending');
     INSERT INTO orders (pet_id, status) VALUES (2, 'approved')`,
  ),
);
const AVAILABLE = 'animal 1 is available';
const ORDERED = 'animal 2 is pending';
const ORDER = 'order 1 of 2 is approved';
const BEFORE = [AVAILABLE, ORDERED, ORDER];
const WITH_REX = [AVAILABLE, ORDERED, 'animal Rex is without status', ORDER];
const WITH_ORDER = ['animal 1 is pending', ORDERED, ORDER, 'order 2 of 1 is placed'];

type Operation = {
  name: string;
  send: () => Promise<Reply>;
  /** The contents of D1 after the operation has taken effect once. */
  after: string[];
  success: number;
  /** The status of the same request sent after that, if it is another one. */
  again?: number;
  /** Of a 503: what is unknown, and the advice. */
  unknown: string;
  advice: string;
};

const KEYED = {
  unknown: 'whether the request was carried out',
  advice: 'Retry with the same Idempotency-Key: it is carried out at most once.',
};
const UNKEYED =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';

const KEYED_CREATES: Operation[] = [
  {
    name: 'createPet with a key',
    send: () => create('Rex', 'k'),
    after: WITH_REX,
    success: 201,
    ...KEYED,
  },
  {
    name: 'placeOrder with a key',
    send: () => place(1, 'k'),
    after: WITH_ORDER,
    success: 201,
    ...KEYED,
  },
];

const WRITES: Operation[] = [
  ...KEYED_CREATES,
  {
    ...{ name: 'createPet', send: () => create('Rex'), after: WITH_REX, success: 201 },
    ...{ unknown: 'whether the animal was added', advice: UNKEYED },
  },
  {
    name: 'updatePet',
    send: () => update(1, { name: 'Max', status: 'sold' }),
    after: [ORDERED, 'animal Max is sold', ORDER],
    success: 200,
    unknown: 'whether the animal was changed',
    advice:
      'Check before you retry: the same change could overwrite a later one of another client.',
  },
  {
    ...{
      name: 'deletePet',
      send: () => remove(1),
      after: [ORDERED, ORDER],
      success: 204,
      again: 404,
    },
    unknown: 'whether the animal was deleted',
    advice: 'A retry is safe: 404 means that the animal is deleted.',
  },
  {
    ...{ name: 'placeOrder', send: () => place(1), after: WITH_ORDER, success: 201, again: 409 },
    ...{ unknown: 'whether the order was placed', advice: UNKEYED },
  },
  {
    name: 'updateOrder',
    send: () => move(1, 'delivered'),
    after: [AVAILABLE, 'animal 2 is sold', 'order 1 of 2 is delivered'],
    success: 200,
    unknown: 'whether the order was changed',
    advice: 'A retry is safe: setting the current status again changes nothing.',
  },
];

const READS = {
  ...{ listPets: '/v1/pets', getPet: '/v1/pets/1' },
  ...{ listOrders: '/v1/store/orders', getOrder: '/v1/store/orders/1' },
};

test('every operation of the description is tried while D1 fails', () => {
  const tried = new Set([...Object.keys(READS), ...WRITES.map(({ name }) => name)]);
  const described = operations.map(({ operation }) => operation.operationId);
  expect(described.filter((id) => !tried.has(id))).toEqual(['getHealth']);
});

/** Sends an operation while its call of D1 fails: the response is its 503, after one call. */
async function expectUnavailable(send: Operation['send'], message: string, fault: Fault) {
  // A second call would fail in another way.
  await store.fault({ d1: [fault, { text: 'D1_ERROR: a second call: SQLITE_ERROR' }] });
  const reply = await send();
  expectError(reply, 503, 'service_unavailable', message);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect((await store.calls()).d1).toBe(1);
  await store.fault({});
}

const messageOf = ({ unknown, advice }: Operation) =>
  `The database did not respond. It is unknown ${unknown}. ${advice}`;

test.each(
  Object.entries(READS).flatMap(([name, path]) =>
    (['throws', 'hangs'] as const).map((fault) => ({ name, path, fault })),
  ),
)('$name is a 503 while D1 $fault, then works', async ({ path, fault }) => {
  const read = () => store.fetch(path);
  await expectUnavailable(read, 'The database is temporarily unavailable.', fault);
  expect((await read()).status).toBe(200);
});

test.each(WRITES)('$name is a 503 when D1 throws, and nothing is stored', async (operation) => {
  await expectUnavailable(operation.send, messageOf(operation), 'throws');
  expect(await contents()).toEqual(BEFORE);
  expect((await operation.send()).status).toBe(operation.success);
  expect(await contents()).toEqual(operation.after);
});

test.each(
  (['loses the response', 'runs, then hangs'] as const).flatMap((fault) =>
    WRITES.map((operation) => ({ ...operation, fault })),
  ),
)('$name is a 503 when D1 $fault, and takes effect once', async ({ fault, ...operation }) => {
  await expectUnavailable(operation.send, messageOf(operation), fault);
  expect(await contents()).toEqual(operation.after);
  expect((await operation.send()).status).toBe(operation.again ?? operation.success);
});

test.each(WRITES)('$name takes effect once if D1 executes it after the 503', async (operation) => {
  await store.fault({ d1: ['runs late'] });
  expect((await operation.send()).status).toBe(503);
  expect(await contents()).toEqual(BEFORE);
  await store.fault({ release: true });
  expect(await contents()).toEqual(operation.after);
});

test.each(KEYED_CREATES)('a retry of $name gets the lost response', async (operation) => {
  await expectUnavailable(operation.send, messageOf(operation), 'loses the response');
  const replayed = await operation.send();
  expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  const { pathname } = new URL(replayed.headers.get('location') ?? '');
  expect((await store.fetch(pathname)).text).toBe(replayed.text);
  expect(await contents()).toEqual(operation.after);
});

test.each(KEYED_CREATES)('$name and a retry before it are carried out once', async (operation) => {
  await store.fault({ d1: ['runs late'] });
  expect((await operation.send()).status).toBe(503);
  const retried = await operation.send();
  expect([retried.status, retried.headers.has('idempotency-replayed')]).toEqual([201, false]);
  await store.fault({ release: true });
  expect(await contents()).toEqual(operation.after);
});
