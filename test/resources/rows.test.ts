/** The rows that operations read and write, and the bytes that a create takes: D1 bills both. */
import { expect, test } from 'vitest';
import * as orders from '../../src/orders/queries.ts';
import type { OrderStatus } from '../../src/orders/schema.ts';
import * as pets from '../../src/pets/queries.ts';
import type { PetPatch } from '../../src/pets/schema.ts';
import { seedStore } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

const REX = { name: 'Rex', categoryId: 3n, status: 'sold' } as const;
const SOLD = { status: 'sold' } as const;

type Run = (db: D1Database) => Promise<D1Result>;

const keyed = (requestId: string) => ({
  ...{ keyHash: requestId[0] ?? '', bodyHash: 'hash', requestId },
});
const create: Run = (db) => pets.insertPet(db, REX);
const createOnce: Run = (db) => pets.insertPetOnce(db, REX, keyed('p'));
const patch =
  (id: bigint, change: PetPatch, requestId: string, number = 1): Run =>
  (db) =>
    pets.changePet(db, id, change, { requestId, number });
const remove =
  (id: bigint, requestId: string): Run =>
  (db) =>
    pets.removePet(db, id, { requestId, number: 1 });
const order =
  (petId: bigint): Run =>
  (db) =>
    orders.insertOrder(db, petId);
const orderOnce =
  (petId: bigint, requestId: string): Run =>
  (db) =>
    orders.insertOrderOnce(db, petId, keyed(requestId), { requestId, number: 1 });
const setStatus =
  (id: bigint, status: OrderStatus): Run =>
  (db) =>
    orders.changeOrder(db, id, status, { requestId: status + id, number: 1 });

/** In this order, in a store of `seedStore`. */
const WRITES: [name: string, rows: string, Run][] = [
  ['createPet', 'reads 3, writes 3', create],
  ['createPet with a key', 'reads 4, writes 5', createOnce],
  ['createPet replayed', 'reads 5, writes 0', createOnce],
  ['updatePet of a name', 'reads 4, writes 3', patch(1n, { name: 'Max' }, 'a')],
  ['updatePet of a status', 'reads 5, writes 4', patch(3n, SOLD, 'b')],
  ['updatePet repeated', 'reads 5, writes 1', patch(3n, SOLD, 'b', 2)],
  ['updatePet refused', 'reads 3, writes 0', patch(4n, SOLD, 'c')],
  ['updatePet refused at its second attempt', 'reads 5, writes 2', patch(4n, SOLD, 'd', 2)],
  ['deletePet', 'reads 3, writes 3', remove(6n, 'e')],
  ['deletePet refused', 'reads 3, writes 0', remove(5n, 'f')],
  ['deletePet of no animal', 'reads 2, writes 0', remove(6n, 'g')],
  ['placeOrder', 'reads 8, writes 6', order(11n)],
  ['placeOrder refused', 'reads 6, writes 0', order(2n)],
  ['placeOrder with a key', 'reads 9, writes 8', orderOnce(15n, 'o1')],
  ['placeOrder replayed', 'reads 8, writes 0', orderOnce(15n, 'o2')],
  ['placeOrder with a key refused', 'reads 6, writes 0', orderOnce(2n, 'q')],
  ['updateOrder to approved', 'reads 6, writes 5', setStatus(4n, 'approved')],
  ['updateOrder to delivered', 'reads 9, writes 6', setStatus(1n, 'delivered')],
  ['updateOrder to cancelled', 'reads 10, writes 6', setStatus(5n, 'cancelled')],
  ['updateOrder refused', 'reads 3, writes 0', setStatus(2n, 'approved')],
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
  let [read, written] = [0, 0];
  for (const { meta } of results.length > 0 ? results : [result]) {
    read += meta.rows_read;
    written += meta.rows_written;
  }
  return `reads ${read}, writes ${written}`;
}

test.each([16, 2_000])('the rows of writes in a store of %i animals and orders', async (count) => {
  await seedStore(store, count);
  const { DB } = await store.bindings();
  for (const [name, rows, run] of WRITES) expect(await rowsOf(DB, run), name).toBe(rows);
});

test.each([
  ['listPets', pets.selectPets, 'sold'],
  ['listOrders', orders.selectOrders, 'placed'],
] as const)('%s reads at most limit + 1 rows of 2,000, at any depth', async (_, select, status) => {
  await seedStore(store, 2_000);
  const { DB } = await store.bindings();
  for (const lastId of ['0', '1000', '1970', '1999']) {
    for (const limit of [1, 20, 100]) {
      const query = { limit, cursor: { list: '', lastId, filters: '' } };
      expect((await select(DB, query)).meta.rows_read).toBeLessThanOrEqual(limit + 1);
      const filtered = await select(DB, { ...query, status });
      expect(filtered.meta.rows_read).toBeLessThanOrEqual(limit + 1);
    }
  }
});

const CREATES = 3_000;

/** Statements that repeat the only animal and its record, each time with another key. */
const repeated = () => {
  const numbers = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${CREATES})`;
  return `${numbers} INSERT INTO pets (name, category_id, status)
      SELECT name, category_id, status FROM n, pets;
    ${numbers} INSERT INTO idempotency_keys
      (key_hash, created_at, body_hash, request_id, response)
      SELECT hex(randomblob(32)), created_at, body_hash, request_id, response
      FROM n, idempotency_keys`;
};

/** In bytes, without free pages. */
async function databaseSize(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT 1').all()).meta.size_after;
}

/** The bytes per create, of creates with this body. */
async function bytesPerCreate(body: unknown, key: string): Promise<number> {
  const authorization = `Bearer ${await store.issueKey()}`;
  const headers = { authorization, 'idempotency-key': key };
  expect((await store.create(body, { headers })).status).toBe(201);
  const before = await databaseSize();
  await store.exec(repeated());
  return ((await databaseSize()) - before) / CREATES;
}

test('the largest create takes at most 3,082 bytes', async () => {
  const body = `{"name":"${'🐕'.repeat(255)}","categoryId":-9223372036854775808,"status":"available"}`;
  expect(await bytesPerCreate(body, 'k'.repeat(255))).toBeLessThanOrEqual(3_082);
});

test('the smallest create takes at most 400 bytes', async () => {
  expect(await bytesPerCreate({ name: 'a', categoryId: 1 }, 'k')).toBeLessThanOrEqual(400);
});
