/** Every operation while D1 fails: its attempts, its response, its effect, and the response to the same request again. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { contents, create, place, move, update, remove } = clientOf(store);

type Operation = {
  name: string;
  send: () => Promise<Reply>;
  /** The contents of the store after the operation has succeeded. */
  after: string[];
  /** The status of its success. */
  success: number;
  /** The status of the same request sent again after that, if it is another one. */
  again?: number;
  /** The facts that the message of a 503 states. */
  says: RegExp[];
};

beforeEach(() =>
  store.exec(
    `INSERT INTO pets VALUES (1, '1', 1, 'available'), (2, '2', 1, 'pending');
     INSERT INTO orders (pet_id, status) VALUES (2, 'approved')`,
  ),
);
const AVAILABLE = 'animal 1 is available';
const ORDERED = 'animal 2 is pending';
const ORDER = 'order 1 of 2 is approved';
const BEFORE = [AVAILABLE, ORDERED, ORDER];
const WITH_REX = [AVAILABLE, ORDERED, 'animal Rex is without status', ORDER];
const WITH_ORDER = ['animal 1 is pending', ORDERED, ORDER, 'order 2 of 1 is placed'];

const read = (name: string, path: string): Operation => ({
  name,
  send: () => store.fetch(path),
  after: BEFORE,
  success: 200,
  says: [/^The database is temporarily unavailable\.$/],
});
const updateOrder: Operation = {
  name: 'updateOrder',
  send: () => move(1, 'delivered'),
  after: [AVAILABLE, 'animal 2 is sold', 'order 1 of 2 is delivered'],
  success: 200,
  says: [/unknown whether the order was changed/, /A retry is safe/],
};

const REPEATED: Operation[] = [
  read('listPets', '/v1/pets'),
  read('getPet', '/v1/pets/1'),
  read('listOrders', '/v1/store/orders'),
  read('getOrder', '/v1/store/orders/1'),
  {
    name: 'createPet with an Idempotency-Key',
    send: () => create('Rex', 'k'),
    after: WITH_REX,
    success: 201,
    says: [/unknown/, /same Idempotency-Key/],
  },
  {
    name: 'updatePet',
    send: () => update(1, { name: 'Max', status: 'sold' }),
    after: [ORDERED, 'animal Max is sold', ORDER],
    success: 200,
    says: [/unknown whether the animal was changed/, /Check before you retry/],
  },
  {
    name: 'deletePet',
    send: () => remove(1),
    after: [ORDERED, ORDER],
    success: 204,
    again: 404,
    says: [/unknown whether the animal was deleted/, /A retry is safe/],
  },
  {
    name: 'placeOrder with an Idempotency-Key',
    send: () => place(1, 'k'),
    after: WITH_ORDER,
    success: 201,
    says: [/unknown/, /same Idempotency-Key/],
  },
  updateOrder,
];

const createPet: Operation = {
  name: 'createPet',
  send: () => create('Rex'),
  after: WITH_REX,
  success: 201,
  says: [/unknown whether the animal was added/, /Idempotency-Key with the first request/],
};
const SENT_ONCE: Operation[] = [
  createPet,
  {
    name: 'placeOrder',
    send: () => place(1),
    after: WITH_ORDER,
    success: 201,
    again: 409,
    says: [/unknown whether the order was placed/, /Idempotency-Key with the first request/],
  },
];

/** Sends the operation while the next calls of D1 have these faults. */
async function sendWhile(d1: Fault[], { send }: Operation): Promise<Reply> {
  await store.fault({ d1 });
  return send();
}

async function expectSuccess({ status, headers }: Reply, { success, after }: Operation) {
  expect(status).toBe(success);
  // A replay is the response of an earlier request, not of an earlier attempt.
  expect(headers.has('idempotency-replayed')).toBe(false);
  expect(await contents()).toEqual(after);
}

async function expectUnavailable({ status, headers, text }: Reply, operation: Operation) {
  expect([status, headers.get('retry-after')]).toEqual([503, '5']);
  for (const fact of operation.says) expect(JSON.parse(text).message).toMatch(fact);
}

async function expectAttempts(count: number): Promise<void> {
  expect(await store.logLines()).toMatchObject([{ d1Attempts: count }]);
}

describe.each(REPEATED)('$name', (operation) => {
  test('succeeds at the second attempt after a lost response', async () => {
    await expectSuccess(await sendWhile(['loses the response'], operation), operation);
    await expectAttempts(2);
  });
});

describe.each(SENT_ONCE)('$name', (operation) => {
  test('is a 503 after a lost response, and is not repeated', async () => {
    await expectUnavailable(await sendWhile(['loses the response'], operation), operation);
    await expectAttempts(1);
    expect(await contents()).toEqual(operation.after);
  });
});

describe.each([...REPEATED, ...SENT_ONCE])('$name', (operation) => {
  const { success, again = success } = operation;

  test('is a 503 when D1 has run it but hangs; the same request again does not repeat a keyed create', async () => {
    await expectUnavailable(await sendWhile(['runs, then hangs'], operation), operation);
    expect(await contents()).toEqual(operation.after);
    const reply = await operation.send();
    expect(reply.status).toBe(again);
    const isKeyed = operation.name.includes('Idempotency-Key');
    expect(reply.headers.has('idempotency-replayed')).toBe(isKeyed);
    if (isKeyed) expect(await contents()).toEqual(operation.after);
  });

  test('is a 503 while D1 throws, and has no effect; the same request again succeeds', async () => {
    await expectUnavailable(await sendWhile(Array(3).fill('throws'), operation), operation);
    expect(await contents()).toEqual(BEFORE);
    // An operation that is sent once has left faults over.
    await store.fault({});
    expect((await operation.send()).status).toBe(success);
  });
});

test('updateOrder succeeds at its third attempt', async () => {
  const reply = await sendWhile(['throws late', 'loses the response'], updateOrder);
  await expectSuccess(reply, updateOrder);
  await expectAttempts(3);
});

test('updateOrder is a 503 after its third attempt', async () => {
  const reply = await sendWhile(Array(3).fill('loses the response'), updateOrder);
  await expectUnavailable(reply, updateOrder);
  await expectAttempts(3);
  expect(await contents()).toEqual(updateOrder.after);
});

test('createPet is repeated when D1 was busy, and so wrote nothing', async () => {
  await expectSuccess(await sendWhile(['is busy'], createPet), createPet);
  await expectAttempts(2);
});

test('createPet is not repeated after another error that passes, because it may have written', async () => {
  const error = { text: 'D1_ERROR: disk I/O error: SQLITE_IOERR' };
  await expectUnavailable(await sendWhile([error], createPet), createPet);
  await expectAttempts(1);
});
