/** Every operation while D1 fails: its response, the single call of D1, and what D1 then stores. */
import { beforeEach, describe, expect, test } from 'vitest';
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
  /** The message of a 503. */
  message: string;
};

const unknown = (effect: string, advice: string) =>
  `The database did not respond. It is unknown ${effect}. ${advice}`;
const KEYED = unknown(
  'whether the request was carried out',
  'Retry with the same Idempotency-Key: it is carried out at most once.',
);
const UNKEYED =
  'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.';

const KEYED_CREATES: Operation[] = [
  {
    name: 'createPet with an Idempotency-Key',
    send: () => create('Rex', 'k'),
    after: WITH_REX,
    success: 201,
    message: KEYED,
  },
  {
    name: 'placeOrder with an Idempotency-Key',
    send: () => place(1, 'k'),
    after: WITH_ORDER,
    success: 201,
    message: KEYED,
  },
];

const WRITES: Operation[] = [
  ...KEYED_CREATES,
  {
    name: 'createPet',
    send: () => create('Rex'),
    after: WITH_REX,
    success: 201,
    message: unknown('whether the animal was added', UNKEYED),
  },
  {
    name: 'updatePet',
    send: () => update(1, { name: 'Max', status: 'sold' }),
    after: [ORDERED, 'animal Max is sold', ORDER],
    success: 200,
    message: unknown(
      'whether the animal was changed',
      'Check before you retry: the same change could overwrite a later one of another client.',
    ),
  },
  {
    name: 'deletePet',
    send: () => remove(1),
    after: [ORDERED, ORDER],
    success: 204,
    again: 404,
    message: unknown(
      'whether the animal was deleted',
      'A retry is safe: 404 means that the animal is deleted.',
    ),
  },
  {
    name: 'placeOrder',
    send: () => place(1),
    after: WITH_ORDER,
    success: 201,
    again: 409,
    message: unknown('whether the order was placed', UNKEYED),
  },
  {
    name: 'updateOrder',
    send: () => move(1, 'delivered'),
    after: [AVAILABLE, 'animal 2 is sold', 'order 1 of 2 is delivered'],
    success: 200,
    message: unknown(
      'whether the order was changed',
      'A retry is safe: setting the current status again changes nothing.',
    ),
  },
];

type Sent = Pick<Operation, 'send' | 'message'>;

/** Sends an operation while its call of D1 fails: the response is its 503, after one call. */
async function expectUnavailable({ send, message }: Sent, fault: Fault): Promise<void> {
  // A second call would fail in another way.
  await store.fault({ d1: [fault, { text: 'D1_ERROR: a second call: SQLITE_ERROR' }] });
  const reply = await send();
  expectError(reply, 503, 'service_unavailable', message);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect((await store.calls()).d1).toBe(1);
  await store.fault({});
}

describe.each([
  ['listPets', '/v1/pets'],
  ['getPet', '/v1/pets/1'],
  ['listOrders', '/v1/store/orders'],
  ['getOrder', '/v1/store/orders/1'],
])('%s', (_, path) => {
  test.each(['throws', 'hangs'] as const)('is a 503 while D1 %s, then works', async (fault) => {
    const message = 'The database is temporarily unavailable.';
    await expectUnavailable({ send: () => store.fetch(path), message }, fault);
    expect((await store.fetch(path)).status).toBe(200);
  });
});

describe.each(WRITES)('$name', (operation) => {
  test('is a 503 when D1 throws, and nothing is stored', async () => {
    await expectUnavailable(operation, 'throws');
    expect(await contents()).toEqual(BEFORE);
    expect((await operation.send()).status).toBe(operation.success);
    expect(await contents()).toEqual(operation.after);
  });

  test.each(['loses the response', 'runs, then hangs'] as const)(
    'is a 503 when D1 %s, and takes effect once',
    async (fault) => {
      await expectUnavailable(operation, fault);
      expect(await contents()).toEqual(operation.after);
      expect((await operation.send()).status).toBe(operation.again ?? operation.success);
    },
  );

  test('is a 503 when D1 executes it late, and then takes effect once', async () => {
    await store.fault({ d1: ['runs late'] });
    expect((await operation.send()).status).toBe(503);
    expect(await contents()).toEqual(BEFORE);
    await store.fault({ release: true });
    expect(await contents()).toEqual(operation.after);
  });
});

describe.each(KEYED_CREATES)('$name', (operation) => {
  test('returns the first response to a retry after a lost one', async () => {
    await expectUnavailable(operation, 'loses the response');
    const [replayed, again] = [await operation.send(), await operation.send()];
    expect([replayed.status, replayed.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    const { pathname } = new URL(replayed.headers.get('location') ?? '');
    expect((await store.fetch(pathname)).text).toBe(replayed.text);
    expect(again.text).toBe(replayed.text);
    expect(await contents()).toEqual(operation.after);
  });

  test('is carried out once if D1 executes the first request after its retry', async () => {
    await store.fault({ d1: ['runs late'] });
    expect((await operation.send()).status).toBe(503);
    const retried = await operation.send();
    expect([retried.status, retried.headers.has('idempotency-replayed')]).toEqual([201, false]);
    await store.fault({ release: true });
    expect(await contents()).toEqual(operation.after);
  });
});
