/** The rows that operations read and write: D1 bills them. */
import { expect, test } from 'vitest';
import type { Statements } from '../../src/d1/run.ts';
import * as orders from '../../src/orders/queries.ts';
import * as pets from '../../src/pets/queries.ts';
import { seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const REX = { name: 'Rex', categoryId: 3n, status: 'sold' } as const;
const keyed = (keyHash: string) => ({ keyHash, bodyHash: 'hash' });

/** In this order, in a store of `seedStore`. */
const WRITES: [name: string, rows: string, query: Statements][] = [
  ['createPet', 'reads 4, writes 3', pets.createPet(REX, undefined)],
  ['createPet with a key', 'reads 6, writes 5', pets.createPet(REX, keyed('p'))],
  ['createPet replayed', 'reads 7, writes 0', pets.createPet(REX, keyed('p'))],
  ['updatePet of a name', 'reads 4, writes 2', pets.changePet(1n, { name: 'Max' })],
  ['updatePet refused', 'reads 4, writes 0', pets.changePet(4n, { status: 'sold' })],
  ['deletePet', 'reads 3, writes 1', pets.deletePet(6n)],
  ['deletePet refused', 'reads 4, writes 0', pets.deletePet(5n)],
  ['placeOrder', 'reads 8, writes 6', orders.placeOrder(11n, undefined)],
  ['placeOrder refused', 'reads 6, writes 0', orders.placeOrder(2n, undefined)],
  ['placeOrder with a key', 'reads 10, writes 8', orders.placeOrder(15n, keyed('o'))],
  ['placeOrder replayed', 'reads 9, writes 0', orders.placeOrder(15n, keyed('o'))],
  ['updateOrder to delivered', 'reads 8, writes 4', orders.changeOrder(1n, 'delivered')],
  ['updateOrder to cancelled', 'reads 9, writes 4', orders.changeOrder(5n, 'cancelled')],
  ['updateOrder refused', 'reads 4, writes 0', orders.changeOrder(2n, 'approved')],
];

/** Runs the statements in one transaction, and counts their rows. */
async function rowsOf(query: Statements): Promise<{ read: number; written: number }> {
  const { DB } = await store.bindings();
  const statements = Object.values(query).map(({ sql, values }) => DB.prepare(sql).bind(...values));
  const rows = { read: 0, written: 0 };
  for (const { meta } of await DB.batch(statements)) {
    rows.read += meta.rows_read;
    rows.written += meta.rows_written;
  }
  return rows;
}

/** As many records of idempotency keys as animals and orders. None of them has expired. */
const RECORDS = `WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT 2000)
  INSERT INTO idempotency_keys (key_hash, created_at, body_hash, response)
  SELECT 'hash ' || n, unixepoch() * 1000, 'hash', '{"id":1}' FROM numbers`;

test('every write reads and writes few rows among two thousand', async () => {
  await seedStore(store, 2_000);
  await store.exec(RECORDS);
  for (const [name, rows, query] of WRITES) {
    const { read, written } = await rowsOf(query);
    expect(`reads ${read}, writes ${written}`, name).toBe(rows);
  }
});

const LISTS = [
  ['pets', pets.listPets, 'sold'],
  ['orders', orders.listOrders, 'placed'],
] as const;

test.each(LISTS)('a list of %s reads at most limit + 1 rows', async (_, list, status) => {
  await seedStore(store, 2_000);
  for (const after of [undefined, 1_000n, 1_970n]) {
    for (const limit of [1, 20, 100]) {
      expect((await rowsOf(list({ limit, after }))).read).toBeLessThanOrEqual(limit + 1);
      expect((await rowsOf(list({ limit, after, status }))).read).toBeLessThanOrEqual(limit + 1);
    }
  }
});

test.each(LISTS)(
  'a list of %s searches an index, with and without a status',
  async (table, list, status) => {
    const { DB } = await store.bindings();
    const planOf = async (filter: object) => {
      const { sql, values } = list({ limit: 20, after: 5n, ...filter }).page;
      const plan = DB.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...values);
      const { results } = await plan.all<{ detail: string }>();
      return results.map(({ detail }) => detail);
    };
    const byId = `SEARCH ${table} USING INTEGER PRIMARY KEY (rowid>?)`;
    const byStatus = `SEARCH ${table} USING INDEX ${table}_by_status (status=? AND rowid>?)`;
    expect(await planOf({})).toContain(byId);
    expect(await planOf({ status })).toContain(byStatus);
  },
);
