/** The one transaction of `createOnce`, with creates that no operation has. */
import { expect, test } from 'vitest';
import { sql } from '../../src/d1/sql.ts';
import { type Create, insertInto, type Table } from '../../src/d1/table.ts';
import { createOnce } from '../../src/idempotency/create-once.ts';
import { stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';

const store = startStore();
const { insertPet, tableRows } = stepsOf(store);

const PETS = {
  name: sql`pets`,
  columns: ['name', 'category_id'],
  json: sql`json_object('id', id, 'name', name)`,
} as const satisfies Table<unknown>;
const MIA = { name: 'Mia', category_id: 3n };

/** A table with a unique index, that of `key_hash`. */
const RECORDS = {
  name: sql`idempotency_keys`,
  columns: ['key_hash', 'created_at', 'body_hash', 'response'],
  json: sql`json_object('id', id)`,
} as const satisfies Table<unknown>;
const RECORD = { key_hash: 'taken', created_at: 1n, body_hash: '', response: '' };

const reserve = {
  update: sql`UPDATE pets SET status = 'pending'`,
  where: sql`id = 7 AND status = 'available'`,
  read: sql<{ status: string }>`SELECT status FROM pets WHERE id = 7`,
};

/** Carries out a create in the database, as a request with or without an idempotency key. */
async function carryOut<Item, Row>(
  create: Create<Item, Row>,
  idempotencyKey?: string,
  db?: object,
) {
  const DB = db ?? (await store.bindings()).DB;
  const values = { idempotencyKey, client: { id: 'x' }, definition: { operationId: 'x' }, log: {} };
  const get = (name: keyof typeof values) => values[name];
  const c = { env: { DB }, get, var: values, header() {} };
  return createOnce(c as never, () => create, {});
}

test('the unique key_hash fails a retry that does not find the record of its key', async () => {
  const create = insertInto(PETS, MIA);
  const { DB } = await store.bindings();
  const blind = {
    prepare: (text: string) => DB.prepare(text.replace('NOT EXISTS', 'TRUE OR EXISTS')),
    batch: (statements: D1PreparedStatement[]) => DB.batch(statements),
  };
  await carryOut(create, 'k', blind);
  const before = await tableRows();
  const retry = carryOut(create, 'k', blind);
  await expect(retry).rejects.toThrow('UNIQUE constraint failed: idempotency_keys.key_hash');
  expect(await tableRows()).toEqual(before);
});

const KEYS = [undefined, 'k'];

test.each(KEYS)('with the key %s, a row that violates a unique index undoes all', async (key) => {
  await insertPet({ id: 7, status: 'available' });
  await carryOut(insertInto(RECORDS, RECORD));
  const before = await tableRows();
  for (const options of [{}, { reserve }]) {
    const twice = carryOut(insertInto(RECORDS, RECORD, options), key);
    await expect(twice).rejects.toThrow('UNIQUE constraint failed');
  }
  expect(await tableRows()).toEqual(before);
});

test.each(KEYS)('with the key %s, skipsConflict leaves such a row out', async (key) => {
  await carryOut(insertInto(RECORDS, RECORD));
  const { created } = await carryOut(insertInto(RECORDS, RECORD, { skipsConflict: true }), key);
  expect(created).toBeUndefined();
});

test('a retry reserves nothing, even if the condition of the reservation has an OR', async () => {
  await insertPet({ id: 7, status: 'available' });
  const create = insertInto(PETS, MIA, { reserve: { ...reserve, where: sql`id = 7 OR FALSE` } });
  await carryOut(create, 'k');
  await store.exec("UPDATE pets SET status = 'available' WHERE id = 7");
  const before = await tableRows();
  await carryOut(create, 'k');
  expect(await tableRows()).toEqual(before);
});

test('a read that writes fails', async () => {
  const read = sql`UPDATE pets SET name = 'Max' RETURNING name`;
  const create = insertInto(PETS, MIA, { reserve: { ...reserve, read } });
  await expect(carryOut(create)).rejects.toThrow('syntax error');
});

test('the name of a value that is not a column of the table is never a part of the SQL', async () => {
  const fromClient = JSON.parse('{"name) VALUES (9); --":"x"}');
  const { created } = await carryOut(insertInto(PETS, { ...fromClient, ...MIA }));
  expect(created).toMatchObject({ id: '1' });
});
