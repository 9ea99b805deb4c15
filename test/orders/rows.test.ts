/** The rows that a write reads and writes must not depend on the size of the store. */
import { expect, test } from 'vitest';
import { insertRow, insertRowOnce } from '../../src/d1/idempotency/queries.ts';
import { orderInsertion, updateOrder } from '../../src/orders/queries.ts';
import { deletePet, updatePet } from '../../src/pets/queries.ts';
import { startStore } from '../store.ts';
import { seedOrders } from './steps.ts';

const store = startStore();

// Of the seeded animals, 1 and 4 have an open order, 2 is sold, 3 and 7 are available.
const WRITES: [name: string, run: (db: D1Database) => Promise<unknown>][] = [
  ['an order', (db) => insertRow(db, orderInsertion(db, { petId: 3n }))],
  [
    'an order with an idempotency key',
    (db) =>
      insertRowOnce(db, orderInsertion(db, { petId: 7n }), {
        ...{ scope: 'suite/placeOrder', key: 'k', bodyHash: 'hash', requestId: 'request' },
      }),
  ],
  ['a rejected order', (db) => insertRow(db, orderInsertion(db, { petId: 2n }))],
  ['a delivery', (db) => updateOrder(db, 1n, 'delivered', { scope: 'suite', requestId: 'c' })],
  ['a cancellation', (db) => updateOrder(db, 4n, 'cancelled', { scope: 'suite', requestId: 'd' })],
  [
    'a rejected delivery',
    (db) => updateOrder(db, 3n, 'delivered', { scope: 'suite', requestId: 'e' }),
  ],
  [
    'a change of a status',
    (db) => updatePet(db, 2n, { status: 'pending' }, { scope: 'suite', requestId: 'f' }),
  ],
  [
    'a rejected change of a status',
    (db) => updatePet(db, 5n, { status: 'sold' }, { scope: 'suite', requestId: 'g' }),
  ],
  ['a deletion', (db) => deletePet(db, 6n, { scope: 'suite', requestId: 'a' })],
  ['a rejected deletion', (db) => deletePet(db, 5n, { scope: 'suite', requestId: 'b' })],
];

/** Rows read and written by each statement of these writes, in a store of `count` animals and orders. */
async function rows(count: number): Promise<[name: string, read: number, written: number][]> {
  const { DB } = await store.bindings();
  await DB.exec('DELETE FROM pets; DELETE FROM orders; DELETE FROM idempotency_keys');
  await seedOrders(store, count);
  const found: [string, number, number][] = [];
  for (const [name, run] of WRITES) {
    const counting = new Proxy(DB, {
      get: (db, member) =>
        member === 'batch'
          ? async (statements: D1PreparedStatement[]) => {
              const results = await db.batch(statements);
              for (const { meta } of results) found.push([name, meta.rows_read, meta.rows_written]);
              return results;
            }
          : Reflect.get(db, member),
    });
    await run(counting);
  }
  return found;
}

test('writes read and write the same number of rows with 10,000 animals and orders as with 10', async () => {
  const few = await rows(10);
  expect(await rows(10_000)).toEqual(few);
  expect(new Set(few.map(([name]) => name))).toEqual(new Set(WRITES.map(([name]) => name)));
});
