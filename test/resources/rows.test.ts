/**
 * The rows that D1 reads and writes for a request, among two thousand: it bills them. The numbers are measured. A change that
 * raises one costs more: change the number only on purpose, and write it into BENCHMARKS.md (`npm run bench -- rows`). D1 does not
 * report the rows of a transaction that it undoes: those of a refused create, and of the first call of a retry.
 */
import { beforeEach, describe, expect, test } from 'vitest';
import { createOf, type Described, filteredLists, lists, readable } from '../support/contract.ts';
import { stepsOf } from '../support/steps.ts';
import { type Reply, startStore } from '../support/store.ts';

const store = startStore({ faults: true });
const { insertOrder, updatePet, deletePet, updateOrder, createExamples } = stepsOf(store);

const REX = { name: 'Rex', categoryId: 3, status: 'sold' };
const WITH_KEY = { headers: { 'idempotency-key': 'k' } };

/** Sends a request, and returns the numbers of its rows. */
async function rowsOf(send: () => Promise<Reply>) {
  await store.resetCalls();
  await send();
  const { read, written } = await store.calls();
  return { read, written };
}

/** The rows that D1 writes for plain statements: also an entry for each index that changes, and the row of sqlite_sequence. */
async function writtenBy(...statements: string[]) {
  const { DB } = store.bindings();
  const results = await DB.batch(statements.map((sql) => DB.prepare(sql)));
  return results.reduce((sum, { meta }) => sum + meta.rows_written, 0);
}

describe('D1 reads and writes few rows for', () => {
  // Three available animals, and animals, orders and records of idempotency keys that no test names.
  beforeEach(() =>
    store.exec(
      `WITH RECURSIVE ids(id) AS (SELECT 1001 UNION ALL SELECT id + 1 FROM ids LIMIT 2000)
         INSERT INTO pets (id, name, category_id, status) SELECT id, 'Mia ' || id, 3, 'sold' FROM ids;
       INSERT INTO orders (id, pet_id, status) SELECT id, id, 'delivered' FROM pets;
       INSERT INTO idempotency_keys (key_hash, created_at, request_hash, item_id, item)
         SELECT randomblob(32), unixepoch() * 1000, randomblob(32), id, '{}' FROM pets;
       INSERT INTO pets (id, name, category_id, status)
         VALUES (7, 'Rex', 3, 'available'), (8, 'Mia', 3, 'available'), (9, 'Max', 3, 'available')`,
    ),
  );

  test('a new animal, without a key, with one, and for a replay', async () => {
    const send = () => store.createPet(REX, WITH_KEY);
    const written = await writtenBy(
      "INSERT INTO pets (name, category_id, status) VALUES ('Rex', 3, 'sold')",
    );
    expect(await rowsOf(() => store.createPet(REX))).toEqual({ read: 2, written });
    expect(await rowsOf(send)).toEqual({ read: 3, written: written + 2 });
    expect(await rowsOf(send)).toEqual({ read: 1, written: 0 });
  });

  test('another name, category or status', async () => {
    expect(await rowsOf(() => updatePet(7, { name: 'Max' }))).toEqual({ read: 3, written: 1 });
    expect(await rowsOf(() => updatePet(7, { categoryId: 4 }))).toEqual({ read: 3, written: 1 });
    const written = await writtenBy("UPDATE pets SET status = 'sold' WHERE id = 8");
    expect(await rowsOf(() => updatePet(7, { status: 'sold' }))).toEqual({ read: 3, written });
  });

  test('a deletion', async () => {
    expect(await rowsOf(() => deletePet(7))).toEqual({ read: 3, written: 1 });
  });

  test('a new order, without a key, with one, and for a replay', async () => {
    const send = () => store.placeOrder({ petId: 9 }, WITH_KEY);
    const written = await writtenBy(
      "UPDATE pets SET status = 'pending' WHERE id = 8",
      'INSERT INTO orders (pet_id) VALUES (8)',
    );
    expect(await rowsOf(() => store.placeOrder({ petId: 7 }))).toEqual({ read: 5, written });
    expect(await rowsOf(send)).toEqual({ read: 6, written: written + 2 });
    expect(await rowsOf(send)).toEqual({ read: 4, written: 0 });
  });

  test('a delivery', async () => {
    await insertOrder({ id: 5, petId: 7, status: 'approved' });
    const written = await writtenBy(
      "UPDATE orders SET status = 'delivered' WHERE id = 1001",
      "UPDATE pets SET status = 'sold' WHERE id = 1001",
    );
    expect(await rowsOf(() => updateOrder(5, 'delivered'))).toEqual({ read: 6, written });
  });
});

/** The most rows that D1 reads for one item of a list, with those of other tables. */
async function rowsOfItem(list: Described) {
  const items: { id: number }[] = JSON.parse((await store.fetch(list.examplePath)).text);
  let most = 1;
  for (const address of readable(items.map(({ id }) => `${createOf(list).examplePath}/${id}`)))
    most = Math.max(most, (await rowsOf(() => store.fetch(address))).read);
  return most;
}

test.each([
  ...lists.map((list) => ({ list, path: `${list.examplePath}?`, isField: true })),
  ...filteredLists,
])('$path reads at most two items, wherever the page begins', async ({ list, path, isField }) => {
  // Those of another parent, if the list is below one, lie before the items.
  await createExamples(list, 3, 2);
  await createExamples(list, 5);
  const [, second]: { id: number }[] = JSON.parse((await store.fetch(list.examplePath)).text);
  const first = await rowsOf(() => store.fetch(`${path}&limit=1`));
  const later = await rowsOf(() => store.fetch(`${path}&limit=1&after=${second?.id}`));
  // A filter that is no field can read a row of another table for each item.
  const most = (await rowsOfItem(list)) + (isField ? 0 : 1);
  expect(Math.max(first.read, later.read)).toBeLessThanOrEqual(2 * most);
});
