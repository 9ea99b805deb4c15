/** The rows that operations read and write: D1 bills them. */
import { expect, test } from 'vitest';
import { prepare, type Statements } from '../../src/d1/execute.ts';
import { keyedCreate, plainCreate } from '../../src/d1/idempotency.ts';
import type { PageParameters } from '../../src/d1/page.ts';
import { type Sql, sql } from '../../src/d1/sql.ts';
import * as orders from '../../src/orders/queries.ts';
import * as pets from '../../src/pets/queries.ts';
import { seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const REX = { name: 'Rex', categoryId: 3n, status: 'sold' } as const;
const hashes = (keyHash: string) => ({ keyHash, bodyHash: 'hash' });
const order = (petId: bigint) => ({ petId });

/** In this order, in a store of `seedStore`. */
const WRITES: [name: string, rows: string, query: Statements][] = [
  ['createPet', 'reads 4, writes 3', plainCreate(pets.createPet, REX)],
  ['createPet with a key', 'reads 6, writes 5', keyedCreate(pets.createPet, REX, hashes('p'))],
  ['createPet replayed', 'reads 7, writes 0', keyedCreate(pets.createPet, REX, hashes('p'))],
  ['updatePet of a name', 'reads 4, writes 2', pets.updatePet(1n, { name: 'Max' })],
  ['updatePet refused', 'reads 4, writes 0', pets.updatePet(4n, { status: 'sold' })],
  ['deletePet', 'reads 3, writes 1', pets.deletePet(6n)],
  ['deletePet refused', 'reads 4, writes 0', pets.deletePet(5n)],
  ['placeOrder', 'reads 8, writes 6', plainCreate(orders.placeOrder, order(11n))],
  ['placeOrder refused', 'reads 6, writes 0', plainCreate(orders.placeOrder, order(2n))],
  [
    'placeOrder with a key',
    'reads 10, writes 8',
    keyedCreate(orders.placeOrder, order(15n), hashes('o')),
  ],
  [
    'placeOrder replayed',
    'reads 9, writes 0',
    keyedCreate(orders.placeOrder, order(15n), hashes('o')),
  ],
  ['updateOrder to delivered', 'reads 8, writes 4', orders.updateOrder(1n, 'delivered')],
  ['updateOrder to cancelled', 'reads 9, writes 4', orders.updateOrder(5n, 'cancelled')],
  ['updateOrder refused', 'reads 4, writes 0', orders.updateOrder(2n, 'approved')],
];

/** Runs the statements in one transaction, and counts their rows. */
async function rowsOf(query: Statements): Promise<{ read: number; written: number }> {
  const { DB } = await store.bindings();
  const statements = Object.values(query).map((statement) => prepare(DB, statement));
  const rows = { read: 0, written: 0 };
  for (const { meta } of await DB.batch(statements)) {
    rows.read += meta.rows_read;
    rows.written += meta.rows_written;
  }
  return rows;
}

test('every write reads and writes few rows among two thousand', async () => {
  await seedStore(store, 2_000);
  for (const [name, rows, query] of WRITES) {
    const { read, written } = await rowsOf(query);
    expect(`reads ${read}, writes ${written}`, name).toBe(rows);
  }
});

/** A list of each table, and the same list with a filter. */
const LISTS: [
  table: string,
  list: (page: PageParameters) => { page: Sql },
  filtered: (page: PageParameters) => { page: Sql },
][] = [
  ['pets', pets.listPets, (page) => pets.listPets({ ...page, status: 'sold' })],
  ['orders', orders.listOrders, (page) => orders.listOrders({ ...page, status: 'placed' })],
];

test.each(LISTS)('a list of %s reads at most limit + 1 rows', async (_, list, filtered) => {
  await seedStore(store, 2_000);
  for (const after of [undefined, 1_000n, 1_970n]) {
    for (const limit of [1, 20, 100]) {
      expect((await rowsOf(list({ limit, after }))).read).toBeLessThanOrEqual(limit + 1);
      expect((await rowsOf(filtered({ limit, after }))).read).toBeLessThanOrEqual(limit + 1);
    }
  }
});

test.each(LISTS)(
  'a list of %s searches an index, with and without a status',
  async (table, list, filtered) => {
    const { DB } = await store.bindings();
    const planOf = async ({ page }: { page: Sql }) => {
      const plan = prepare(DB, sql`EXPLAIN QUERY PLAN ${page}`);
      const { results } = await plan.all<{ detail: string }>();
      return results.map(({ detail }) => detail);
    };
    const byId = `SEARCH ${table} USING INTEGER PRIMARY KEY (rowid>?)`;
    const byStatus = `SEARCH ${table} USING INDEX ${table}_by_status (status=? AND rowid>?)`;
    expect(await planOf(list({ limit: 20, after: 5n }))).toContain(byId);
    expect(await planOf(filtered({ limit: 20, after: 5n }))).toContain(byStatus);
  },
);
