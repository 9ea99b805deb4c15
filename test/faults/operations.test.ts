/**
 * Every operation while D1 fails: the response, the effect, and the response to the same request sent again. Then, for one
 * operation of each kind, which attempts are made. The effect is the store `before` or `after` the operation.
 */
import { describe, expect, test } from 'vitest';
import { type Reply, startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { addAnimal, addOrder, contents, create, place, move, update, remove } = clientOf(store);

type Operation = {
  name: string;
  given: () => Promise<void>;
  send: () => Promise<Reply>;
  before: string[];
  after: string[];
  /** The statuses of the operation, and of the same request sent again after it. */
  answers: [success: number, again: number];
  /** The facts that the message of a 503 states. */
  says: RegExp[];
};

const withAnAnimal = () => addAnimal('available');
async function withAnOrder(): Promise<void> {
  await addAnimal('pending');
  await addOrder('approved');
}
const AN_ANIMAL = ['animal 1 is available'];
const AN_ORDER = ['animal 1 is pending', 'order 1 of 1 is approved'];
const ORDERED = ['animal 1 is pending', 'order 1 of 1 is placed'];
const TWO_ANIMALS = [...AN_ANIMAL, 'animal Rex is without status'];

const read = (name: string, path: string): Operation => ({
  ...{ name, given: withAnOrder, send: () => store.fetch(path), before: AN_ORDER, after: AN_ORDER },
  ...{ answers: [200, 200], says: [/^The database is temporarily unavailable\.$/] },
});
const updateOrder: Operation = {
  ...{ name: 'updateOrder', given: withAnOrder, send: () => move(1, 'delivered') },
  ...{ before: AN_ORDER, after: ['animal 1 is sold', 'order 1 of 1 is delivered'] },
  ...{ answers: [200, 200], says: [/unknown/] },
};
const REPEATED: Operation[] = [
  read('listPets', '/v1/pets'),
  read('getPet', '/v1/pets/1'),
  read('listOrders', '/v1/store/orders'),
  read('getOrder', '/v1/store/orders/1'),
  {
    ...{ name: 'createPet with an Idempotency-Key', send: () => create('Rex', 'k') },
    ...{ given: withAnAnimal, before: AN_ANIMAL, after: TWO_ANIMALS },
    ...{ answers: [201, 201], says: [/unknown/, /same Idempotency-Key/] },
  },
  {
    ...{ name: 'updatePet', send: () => update(1, { name: 'Max', status: 'sold' }) },
    ...{ given: withAnAnimal, before: AN_ANIMAL, after: ['animal Max is sold'] },
    // Sent again, it could overwrite the change of another client.
    ...{ answers: [200, 200], says: [/unknown/, /^(?!.*same request again)/] },
  },
  {
    ...{ name: 'deletePet', given: withAnAnimal, send: () => remove(1) },
    ...{ before: AN_ANIMAL, after: [], answers: [204, 404], says: [/unknown/] },
  },
  {
    ...{ name: 'placeOrder with an Idempotency-Key', send: () => place(1, 'k') },
    ...{ given: withAnAnimal, before: AN_ANIMAL, after: ORDERED },
    ...{ answers: [201, 201], says: [/unknown/, /same Idempotency-Key/] },
  },
  updateOrder,
];
const createPet: Operation = {
  ...{ name: 'createPet', given: withAnAnimal, send: () => create('Rex') },
  ...{ before: AN_ANIMAL, after: TWO_ANIMALS, answers: [201, 201] },
  says: [/unknown whether the animal was added/, /Idempotency-Key with the first request/],
};
const SENT_ONCE: Operation[] = [
  createPet,
  {
    ...{ name: 'placeOrder', given: withAnAnimal, send: () => place(1) },
    ...{ before: AN_ANIMAL, after: ORDERED, answers: [201, 409] },
    says: [/unknown whether the order was placed/, /Idempotency-Key with the first request/],
  },
];

/** Sends the operation while the next calls of D1 have these faults. */
async function sendWhile(d1: Fault[], { given, send }: Operation): Promise<Reply> {
  await given();
  await store.fault({ d1 });
  return send();
}

async function expectSuccess(reply: Reply, { answers: [success], after }: Operation) {
  expect(reply.status).toBe(success);
  // A replay is the response of an earlier request, not of an earlier attempt.
  expect(reply.headers.has('idempotency-replayed')).toBe(false);
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
  const [success, again] = operation.answers;

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
    expect(await contents()).toEqual(operation.before);
    // An operation that is sent once has left faults over.
    await store.fault({});
    expect((await operation.send()).status).toBe(success);
  });
});

const IO_ERROR: Fault = { text: 'D1_ERROR: disk I/O error: SQLITE_IOERR' };

const KINDS = { updateOrder, createPet };

test.each<[keyof typeof KINDS, attempts: number, Fault[]]>([
  ['updateOrder', 1, ['is slower']],
  ['updateOrder', 2, ['throws late']],
  ['updateOrder', 2, ['is busy']],
  ['updateOrder', 2, [IO_ERROR]],
  ['updateOrder', 3, ['throws', 'loses the response']],
  ['updateOrder', 3, ['loses the response', 'loses the response']],
  ['createPet', 1, ['is slower']],
  ['createPet', 2, ['is busy']],
])('%s succeeds at attempt %i when D1 %j', async (name, attempts, faults) => {
  const operation = KINDS[name];
  await expectSuccess(await sendWhile(faults, operation), operation);
  await expectAttempts(attempts);
});

test.each<[keyof typeof KINDS, attempts: number, effect: 'before' | 'after', Fault[]]>([
  ['updateOrder', 1, 'before', ['hangs']],
  ['updateOrder', 2, 'before', ['throws', 'hangs']],
  ['updateOrder', 2, 'after', ['loses the response', 'hangs']],
  ['updateOrder', 3, 'after', Array(3).fill('loses the response')],
  ['createPet', 1, 'before', ['hangs']],
  ['createPet', 1, 'before', ['throws']],
  ['createPet', 1, 'before', [IO_ERROR]],
])(
  '%s is a 503 at attempt %i, with the store as it is %s it, when D1 %j',
  async (name, attempts, effect, faults) => {
    const operation = KINDS[name];
    await expectUnavailable(await sendWhile(faults, operation), operation);
    await expectAttempts(attempts);
    expect(await contents()).toEqual(operation[effect]);
  },
);
