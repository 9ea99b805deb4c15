/**
 * Every operation while D1 fails: the response, the number of attempts, the effect, and the response to the same request
 * sent again.
 */
import { describe, expect, test } from 'vitest';
import { REPEAT } from '../repeat.ts';
import { type Reply, startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { D1Fault } from './d1.ts';

const store = startStore({ faults: true, env: 'staging' });
const { addAnimal, addOrder, contents, create, place, move, update, remove } = clientOf(store);

type Faults = {
  survived: [attempts: number, faults: D1Fault[]][];
  /** The effect of the operation: is the store as it was before, or as after it? */
  fatal: [attempts: number, effect: 'before' | 'after', faults: D1Fault[]][];
};

const BUSY: D1Fault = { text: 'D1_ERROR: database is locked: SQLITE_BUSY' };
const IO_ERROR: D1Fault = { text: 'D1_ERROR: disk I/O error: SQLITE_IOERR' };

const OF_REPEATED: Faults = {
  survived: [
    [1, ['is slower']],
    [2, ['throws late']],
    [2, ['loses the response']],
    [2, [BUSY]],
    [2, [IO_ERROR]],
    [3, ['throws', 'loses the response']],
    [3, ['loses the response', 'loses the response']],
  ],
  fatal: [
    [1, 'before', ['hangs']],
    [1, 'after', ['runs, then hangs']],
    [1, 'before', ['is overloaded']],
    [2, 'before', ['throws', 'hangs']],
    [2, 'after', ['loses the response', 'hangs']],
    [3, 'before', ['throws', 'throws', 'throws']],
    [3, 'after', ['loses the response', 'loses the response', 'loses the response']],
  ],
};
/** Of an operation that is not repeated unless it is certain that nothing was written. */
const OF_SENT_ONCE: Faults = {
  survived: [
    [1, ['is slower']],
    [2, [BUSY]],
  ],
  fatal: [
    [1, 'before', ['throws']],
    [1, 'after', ['loses the response']],
    [1, 'before', ['hangs']],
    [1, 'after', ['runs, then hangs']],
    [1, 'before', ['is overloaded']],
    [1, 'before', [IO_ERROR]],
  ],
};
/** One fault of each effect. All operations share their attempts, so `npm run test:long` tries the rest. */
const FEW: Faults = {
  survived: [[2, ['loses the response']]],
  fatal: [
    [1, 'after', ['runs, then hangs']],
    [3, 'before', ['throws', 'throws', 'throws']],
  ],
};
const FEW_OF_REPEATED = REPEAT > 1 ? OF_REPEATED : FEW;

type Case = Faults & {
  name: string;
  given: () => Promise<void>;
  send: () => Promise<Reply>;
  before: string[];
  after: string[];
  success: number;
  /** The status of the same request sent again, by the effect of the first. */
  again: { before: number; after: number };
  /** The facts that the message of a 503 states, and what it must not advise. */
  says: RegExp[];
  neverSays?: RegExp;
};

const UNAVAILABLE = /^The database is temporarily unavailable\.$/;
const SAME_KEY = /same Idempotency-Key/;
const SAME_REQUEST = /same request again/;

const withAnAnimal = () => addAnimal('available');
async function withAnOrder(): Promise<void> {
  await addAnimal('pending');
  await addOrder('approved');
}
const AN_ANIMAL = ['animal 1 is available'];
const AN_ORDER = ['animal 1 is pending', 'order 1 of 1 is approved'];
const ORDERED = ['animal 1 is pending', 'order 1 of 1 is placed'];
const TWO_ANIMALS = [...AN_ANIMAL, 'animal Rex is without status'];

const read = (name: string, path: string, faults: Faults): Case => ({
  ...{ name, ...faults, given: withAnOrder, send: () => store.fetch(path) },
  ...{ before: AN_ORDER, after: AN_ORDER, success: 200, again: { before: 200, after: 200 } },
  says: [UNAVAILABLE],
});

const CASES: Case[] = [
  read('listPets', '/v1/pets', OF_REPEATED),
  read('getPet', '/v1/pets/1', FEW_OF_REPEATED),
  read('listOrders', '/v1/store/orders', FEW_OF_REPEATED),
  read('getOrder', '/v1/store/orders/1', FEW_OF_REPEATED),
  {
    ...{ name: 'createPet', ...OF_SENT_ONCE, given: withAnAnimal, send: () => create('Rex') },
    ...{ before: AN_ANIMAL, after: TWO_ANIMALS, success: 201, again: { before: 201, after: 201 } },
    says: [/unknown whether the animal was added/, /Idempotency-Key with the first request/],
  },
  {
    ...{ name: 'createPet with an Idempotency-Key', ...FEW_OF_REPEATED, given: withAnAnimal },
    ...{ send: () => create('Rex', 'k'), success: 201, again: { before: 201, after: 201 } },
    ...{ before: AN_ANIMAL, after: TWO_ANIMALS, says: [/unknown/, SAME_KEY] },
  },
  {
    ...{ name: 'updatePet', ...FEW_OF_REPEATED, given: withAnAnimal },
    ...{ send: () => update(1, { name: 'Max', status: 'sold' }), success: 200 },
    ...{ before: AN_ANIMAL, after: ['animal Max is sold'], again: { before: 200, after: 200 } },
    // It could overwrite the change of another client.
    ...{ says: [/unknown/], neverSays: SAME_REQUEST },
  },
  {
    ...{ name: 'deletePet', ...FEW_OF_REPEATED, given: withAnAnimal, send: () => remove(1) },
    ...{ before: AN_ANIMAL, after: [], success: 204, again: { before: 204, after: 404 } },
    says: [/unknown/],
  },
  {
    ...{ name: 'placeOrder', ...OF_SENT_ONCE, given: withAnAnimal, send: () => place(1) },
    ...{ before: AN_ANIMAL, after: ORDERED, success: 201, again: { before: 201, after: 409 } },
    says: [/unknown whether the order was placed/, /Idempotency-Key with the first request/],
  },
  {
    ...{ name: 'placeOrder with an Idempotency-Key', ...OF_REPEATED, given: withAnAnimal },
    ...{ send: () => place(1, 'k'), success: 201, again: { before: 201, after: 201 } },
    ...{ before: AN_ANIMAL, after: ORDERED, says: [/unknown/, SAME_KEY] },
  },
  {
    ...{ name: 'updateOrder', ...OF_REPEATED, given: withAnOrder },
    ...{ send: () => move(1, 'delivered'), success: 200, again: { before: 200, after: 200 } },
    ...{ before: AN_ORDER, after: ['animal 1 is sold', 'order 1 of 1 is delivered'] },
    says: [/unknown/],
  },
];

describe.each(CASES)('$name', (operation) => {
  const { given, send, success, again } = operation;

  test.each(operation.survived)('succeeds at attempt %i when D1 %j', async (attempts, faults) => {
    await given();
    await store.fault({ d1: [...faults] });
    const reply = await send();
    expect(reply.status).toBe(success);
    // A replay is the response of an earlier request, not of an earlier attempt.
    expect(reply.headers.has('idempotency-replayed')).toBe(false);
    expect(await store.logLines()).toEqual([expect.objectContaining({ d1Attempts: attempts })]);
    expect(await contents()).toEqual(operation.after);
  });

  test.each(operation.fatal)(
    'is a 503 at attempt %i, with the store as it is %s the operation, when D1 %j',
    async (attempts, effect, faults) => {
      await given();
      await store.fault({ d1: [...faults] });
      const { status, headers, body } = await send();
      expect([status, headers.get('retry-after')]).toEqual([503, '5']);
      const { message } = body as { message: string };
      for (const fact of operation.says) expect(message).toMatch(fact);
      if (operation.neverSays) expect(message).not.toMatch(operation.neverSays);
      expect(await store.logLines()).toEqual([expect.objectContaining({ d1Attempts: attempts })]);
      expect(await contents()).toEqual(operation[effect]);

      const reply = await send();
      expect(reply.status).toBe(again[effect]);
      const isReplay = effect === 'after' && operation.says.includes(SAME_KEY);
      expect(reply.headers.has('idempotency-replayed')).toBe(isReplay);
    },
  );

  test.each<D1Fault>(['is full', 'has another schema'])(
    'is a 500 after one attempt, and writes nothing, when D1 %s',
    async (fault) => {
      await given();
      await store.fault({ d1: [fault] });
      expect((await send()).body).toMatchObject({ code: 'internal_error' });
      expect(await store.logLines()).toEqual([expect.objectContaining({ d1Attempts: 1 })]);
      expect(await contents()).toEqual(operation.before);
    },
  );
});
