/** The rows that operations read and write, which D1 bills, do not depend on the size of the store. */
import { expect, test } from 'vitest';
import type { Attempt } from '../../src/d1/database.ts';
import * as orders from '../../src/orders/queries.ts';
import * as pets from '../../src/pets/queries.ts';
import { seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const REX = { name: 'Rex', categoryId: 3n, status: 'sold' } as const;
const SOLD = { status: 'sold' } as const;

const first = (requestId: string): Attempt => ({ requestId, number: 1 });
const second = (requestId: string): Attempt => ({ requestId, number: 2 });
const keyed = (operation: string) => ({
  ...{ client: 'client', operation, key: 'k', bodyHash: 'hash', requestId: operation },
});

type Run = (db: D1Database) => Promise<D1Result>;

/** In this order, in a store of `seedStore`. */
const WRITES: [name: string, rows: string, Run][] = [
  ['createPet', 'reads 3, writes 3', (db) => pets.insertPet(db, REX)],
  ['createPet with a key', 'reads 4, writes 5', (db) => pets.insertPetOnce(db, REX, keyed('p'))],
  ['createPet replayed', 'reads 5, writes 0', (db) => pets.insertPetOnce(db, REX, keyed('p'))],
  [
    'updatePet of a name',
    'reads 4, writes 3',
    (db) => pets.changePet(db, 1n, { name: 'Max' }, first('a')),
  ],
  ['updatePet of a status', 'reads 5, writes 4', (db) => pets.changePet(db, 3n, SOLD, first('b'))],
  ['updatePet repeated', 'reads 5, writes 1', (db) => pets.changePet(db, 3n, SOLD, second('b'))],
  ['updatePet refused', 'reads 3, writes 0', (db) => pets.changePet(db, 4n, SOLD, first('c'))],
  [
    'updatePet refused at its second attempt',
    'reads 5, writes 2',
    (db) => pets.changePet(db, 4n, SOLD, second('d')),
  ],
  ['deletePet', 'reads 3, writes 3', (db) => pets.removePet(db, 6n, first('e'))],
  ['deletePet refused', 'reads 3, writes 0', (db) => pets.removePet(db, 5n, first('f'))],
  ['deletePet of no animal', 'reads 2, writes 0', (db) => pets.removePet(db, 6n, first('g'))],
  ['placeOrder', 'reads 8, writes 6', (db) => orders.insertOrder(db, 11n)],
  ['placeOrder refused', 'reads 6, writes 0', (db) => orders.insertOrder(db, 2n)],
  [
    'placeOrder with a key',
    'reads 9, writes 8',
    (db) => orders.insertOrderOnce(db, 15n, keyed('o'), first('o')),
  ],
  [
    'placeOrder replayed',
    'reads 8, writes 0',
    (db) => orders.insertOrderOnce(db, 15n, keyed('o'), first('h')),
  ],
  [
    'placeOrder with a key refused',
    'reads 6, writes 0',
    (db) => orders.insertOrderOnce(db, 2n, keyed('q'), first('i')),
  ],
  [
    'updateOrder to approved',
    'reads 6, writes 5',
    (db) => orders.changeOrder(db, 4n, 'approved', first('j')),
  ],
  [
    'updateOrder to delivered',
    'reads 9, writes 6',
    (db) => orders.changeOrder(db, 1n, 'delivered', first('k')),
  ],
  [
    'updateOrder to cancelled',
    'reads 10, writes 6',
    (db) => orders.changeOrder(db, 5n, 'cancelled', first('l')),
  ],
  [
    'updateOrder refused',
    'reads 3, writes 0',
    (db) => orders.changeOrder(db, 2n, 'approved', first('m')),
  ],
];

/** The rows of a statement, or of all statements of a transaction. */
async function rowsOf(db: D1Database, run: Run): Promise<string> {
  let results: D1Result[] = [];
  const batch = async (statements: D1PreparedStatement[]) => {
    results = await db.batch(statements);
    return results;
  };
  const observed = new Proxy(db, {
    get: (target, member) => (member === 'batch' ? batch : Reflect.get(target, member)),
  });
  const result = await run(observed);
  const metas = (results.length > 0 ? results : [result]).map(({ meta }) => meta);
  const read = metas.reduce((sum, { rows_read }) => sum + rows_read, 0);
  const written = metas.reduce((sum, { rows_written }) => sum + rows_written, 0);
  return `reads ${read}, writes ${written}`;
}

test.each([16, 10_000])('of writes in a store of %i animals and orders', async (count) => {
  await seedStore(store, count);
  const { DB } = await store.bindings();
  for (const [name, rows, run] of WRITES) expect(await rowsOf(DB, run), name).toBe(rows);
});

test.each([
  ['getPet', pets.selectPet],
  ['getOrder', orders.selectOrder],
])('%s reads one row of 10,000', async (_, select) => {
  await seedStore(store, 10_000);
  expect((await select((await store.bindings()).DB, 5_000n)).meta.rows_read).toBe(1);
});

test.each([
  ['listPets', pets.selectPets, 'sold'],
  ['listOrders', orders.selectOrders, 'placed'],
] as const)(
  '%s reads at most limit + 1 rows of 10,000, at any depth',
  async (_, select, status) => {
    await seedStore(store, 10_000);
    const { DB } = await store.bindings();
    for (const lastId of [0n, 5_000n, 9_970n, 9_999n]) {
      for (const limit of [1, 20, 100]) {
        const query = { limit, cursor: { list: '', lastId, filters: '' } };
        expect((await select(DB, query)).meta.rows_read).toBeLessThanOrEqual(limit + 1);
        const filtered = await select(DB, { ...query, status });
        expect(filtered.meta.rows_read).toBeLessThanOrEqual(limit + 1);
      }
    }
  },
);
