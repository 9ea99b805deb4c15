/**
 * Orders, updates and deletes while D1 fails: the response, the number of attempts, the effect, and the
 * response to the same request sent again.
 */
import { describe, expect, test } from 'vitest';
import { REPEAT } from '../repeat.ts';
import { startStore } from '../store.ts';
import { clientOf } from './client.ts';
import type { D1Fault } from './d1.ts';

const store = startStore({ faults: true, env: 'staging' });

const BUSY: D1Fault = { text: 'D1_ERROR: database is locked: SQLITE_BUSY' };
const IO_ERROR: D1Fault = { text: 'D1_ERROR: disk I/O error: SQLITE_IOERR' };

const { given, contents, place, move, update, remove } = clientOf(store);

type Survived = [attempts: number, faults: D1Fault[]];
type Failed = [attempts: number, effect: 'before' | 'after', faults: D1Fault[]];

/** The faults that a repeatable write survives, and those after which it is a 503. */
const REPEATABLE: { survives: Survived[]; fails: Failed[] } = {
  survives: [
    [1, ['is slow']],
    [1, ['is slower']],
    [2, ['throws']],
    [2, ['throws late']],
    [2, ['loses the response']],
    [2, [BUSY]],
    [2, [IO_ERROR]],
    [3, ['throws', 'throws']],
    [3, ['throws', 'loses the response']],
    [3, ['loses the response', 'loses the response']],
  ],
  fails: [
    [1, 'before', ['hangs']],
    [1, 'after', ['runs, then hangs']],
    [1, 'before', ['is overloaded']],
    [2, 'before', ['throws', 'hangs']],
    [2, 'after', ['loses the response', 'hangs']],
    [2, 'after', ['throws', 'runs, then hangs']],
    [3, 'before', ['throws', 'throws', 'throws']],
    [3, 'after', ['loses the response', 'loses the response', 'loses the response']],
  ],
};

/** The same for a write that is not repeated unless it is certain that nothing was written. */
const ONCE: typeof REPEATABLE = {
  survives: [
    [1, ['is slow']],
    [1, ['is slower']],
    [2, [BUSY]],
  ],
  fails: [
    [1, 'before', ['throws']],
    [1, 'before', ['throws late']],
    [1, 'after', ['loses the response']],
    [1, 'before', ['hangs']],
    [1, 'after', ['runs, then hangs']],
    [1, 'before', ['is overloaded']],
    [1, 'before', [IO_ERROR]],
  ],
};

/** One fault of each effect. All operations share their retries, so `npm run test:long` tries the rest. */
const FEW: typeof REPEATABLE = {
  survives: [[2, ['loses the response']]],
  fails: [
    [1, 'after', ['runs, then hangs']],
    [3, 'before', ['throws', 'throws', 'throws']],
  ],
};
const REPEATABLE_OR_FEW = REPEAT > 1 ? REPEATABLE : FEW;

const SEND_AGAIN =
  'The database did not respond. It is unknown whether the change was made: send the same request again.';

/** `again`: the status of the same request, sent again after the first had no effect, or had one. */
const OPERATIONS = [
  {
    name: 'placeOrder',
    ...ONCE,
    given: () => given(['available']),
    send: () => place(1),
    before: ['animal 1 is available'],
    after: ['animal 1 is pending', 'order 1 of 1 is placed'],
    success: 201,
    again: { before: 201, after: 409 },
    unavailable: expect.stringContaining('It is unknown whether the order was placed'),
  },
  {
    name: 'placeOrder with an Idempotency-Key',
    ...REPEATABLE,
    given: () => given(['available']),
    send: () => place(1, 'k'),
    before: ['animal 1 is available'],
    after: ['animal 1 is pending', 'order 1 of 1 is placed'],
    success: 201,
    again: { before: 201, after: 201 },
    unavailable: 'The database did not respond. Retry with the same Idempotency-Key.',
  },
  {
    name: 'updateOrder to delivered',
    ...REPEATABLE_OR_FEW,
    given: () => given(['pending'], [[1, 'approved']]),
    send: () => move(1, 'delivered'),
    before: ['animal 1 is pending', 'order 1 of 1 is approved'],
    after: ['animal 1 is sold', 'order 1 of 1 is delivered'],
    success: 200,
    again: { before: 200, after: 200 },
    unavailable: SEND_AGAIN,
  },
  {
    name: 'updateOrder to cancelled',
    ...REPEATABLE,
    given: () => given(['pending'], [[1, 'placed']]),
    send: () => move(1, 'cancelled'),
    before: ['animal 1 is pending', 'order 1 of 1 is placed'],
    after: ['animal 1 is available', 'order 1 of 1 is cancelled'],
    success: 200,
    again: { before: 200, after: 200 },
    unavailable: SEND_AGAIN,
  },
  {
    name: 'updatePet',
    ...REPEATABLE_OR_FEW,
    given: () => given(['available', 'available']),
    send: () => update(1, { name: 'Max', status: 'sold' }),
    before: ['animal 1 is available', 'animal 2 is available'],
    after: ['animal Max is sold', 'animal 2 is available'],
    success: 200,
    again: { before: 200, after: 200 },
    unavailable: SEND_AGAIN,
  },
  {
    name: 'deletePet',
    ...REPEATABLE_OR_FEW,
    given: () => given(['available', 'available']),
    send: () => remove(1),
    before: ['animal 1 is available', 'animal 2 is available'],
    after: ['animal 2 is available'],
    success: 204,
    again: { before: 204, after: 404 },
    unavailable: SEND_AGAIN,
  },
];

describe.each(OPERATIONS)('$name', (operation) => {
  test.each(operation.survives)('succeeds at attempt %i when D1 %j', async (attempts, faults) => {
    await operation.given();
    await store.fault({ d1: [...faults] });
    const reply = await operation.send();
    expect(reply.status).toBe(operation.success);
    expect(await store.logLines()).toEqual([expect.objectContaining({ d1Attempts: attempts })]);
    expect(await contents()).toEqual(operation.after);
    // A replay is the response of an earlier request, not of an earlier attempt.
    expect(reply.headers.has('idempotency-replayed')).toBe(false);

    await store.fault({});
    expect((await operation.send()).status).toBe(operation.again.after);
    expect(await contents()).toEqual(operation.after);
  });

  test.each(operation.fails)(
    'is a 503 at attempt %i, with the store in its state %s the write, when D1 %j',
    async (attempts, effect, faults) => {
      await operation.given();
      await store.fault({ d1: [...faults] });
      const reply = await operation.send();
      expect(reply.status).toBe(503);
      expect(reply.body).toMatchObject({ message: operation.unavailable });
      expect(reply.headers.get('retry-after')).toBe('5');
      expect(await store.logLines()).toEqual([expect.objectContaining({ d1Attempts: attempts })]);
      expect(await contents()).toEqual(operation[effect]);

      await store.fault({});
      expect((await operation.send()).status).toBe(operation.again[effect]);
      expect(await contents()).toEqual(operation.after);
    },
  );

  test.each<D1Fault>(['is full', 'has another schema'])(
    'is a 500 after one attempt, and writes nothing, when D1 %s',
    async (fault) => {
      await operation.given();
      await store.fault({ d1: [fault] });
      const reply = await operation.send();
      expect(reply.body).toMatchObject({ code: 'internal_error' });
      expect(await store.logLines()).toEqual([expect.objectContaining({ d1Attempts: 1 })]);
      expect(await contents()).toEqual(operation.before);
    },
  );
});
