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
  db?: D1Database,
) {
  const DB = db ?? (await store.bindings()).DB;
  const values = { idempotencyKey, client: { id: 'x' }, definition: { operationId: 'x' }, log: {} };
  const get = (name: keyof typeof values) => values[name];
  const c = { env: { DB }, get, var: values, header() {} };
  return createOnce(c as never, () => create, {});
}

/** The database, with a function that gets the text of each statement, and returns the one to execute. */
async function databaseWith(change: (text: string) => string): Promise<D1Database> {
  const { DB } = await store.bindings();
  const prepare = (text: string) => DB.prepare(change(text));
  return { prepare, batch: (statements) => DB.batch(statements) } as D1Database;
}

const KEYS = [undefined, 'k'];

test('a create without a key and without a reservation is one statement', async () => {
  const texts: string[] = [];
  const db = await databaseWith((text) => {
    texts.push(text);
    return text;
  });
  const { created } = await carryOut(insertInto(PETS, MIA), undefined, db);
  expect(created).toEqual({ id: '1', json: '{"id":1,"name":"Mia"}' });
  expect(texts).toHaveLength(1);
});

test('the unique key_hash fails a retry that does not find the record of its key', async () => {
  const create = insertInto(PETS, MIA);
  const db = await databaseWith((text) => text.replace('NOT EXISTS', 'TRUE OR EXISTS'));
  await carryOut(create, 'k', db);
  const before = await tableRows();
  const retry = carryOut(create, 'k', db);
  await expect(retry).rejects.toThrow('UNIQUE constraint failed: idempotency_keys.key_hash');
  expect(await tableRows()).toEqual(before);
});

test.each(KEYS)('with the key %s, a row that violates a unique index is an error', async (key) => {
  await carryOut(insertInto(RECORDS, RECORD));
  const before = await tableRows();
  const twice = carryOut(insertInto(RECORDS, RECORD), key);
  await expect(twice).rejects.toThrow('UNIQUE constraint failed');
  expect(await tableRows()).toEqual(before);
});

test.each(KEYS)('with the key %s, such a row also undoes the reservation', async (key) => {
  await insertPet({ id: 7, status: 'available' });
  await carryOut(insertInto(RECORDS, RECORD));
  const before = await tableRows();
  const twice = carryOut(insertInto(RECORDS, RECORD, { reserve }), key);
  await expect(twice).rejects.toThrow('UNIQUE constraint failed');
  expect(await tableRows()).toEqual(before);
});

test.each(KEYS)('with the key %s, skipsConflict leaves such a row out', async (key) => {
  await carryOut(insertInto(RECORDS, RECORD));
  const before = await tableRows();
  const { created } = await carryOut(insertInto(RECORDS, RECORD, { skipsConflict: true }), key);
  expect(created).toBeUndefined();
  expect(await tableRows()).toEqual(before);
});

test.each(KEYS)('with the key %s, a failed reservation inserts nothing', async (key) => {
  // Also the last write of the connection, which has changed one row.
  await insertPet({ id: 7, status: 'sold' });
  const before = await tableRows();
  const { created, read } = await carryOut(insertInto(PETS, MIA, { reserve }), key);
  expect({ created, read }).toEqual({ created: undefined, read: { status: 'sold' } });
  expect(await tableRows()).toEqual(before);
});

test('a retry reserves nothing, even if the condition of the reservation has an OR', async () => {
  await insertPet({ id: 7, status: 'available' });
  const where = sql`id = 7 AND status = 'available' OR id = 7 AND status = 'pending'`;
  const create = insertInto(PETS, MIA, { reserve: { ...reserve, where } });
  const first = await carryOut(create, 'k');
  await store.exec("UPDATE pets SET status = 'available' WHERE id = 7");
  const before = await tableRows();
  const retry = await carryOut(create, 'k');
  expect(retry.created).toMatchObject(first.created ?? {});
  expect(await tableRows()).toEqual(before);
});

test.each(KEYS)('with the key %s, a read that writes fails, and nothing is stored', async (key) => {
  await insertPet({ id: 7, status: 'available' });
  const before = await tableRows();
  const read = sql`UPDATE pets SET name = 'Max' RETURNING name`;
  const create = insertInto(PETS, MIA, { reserve: { ...reserve, read } });
  await expect(carryOut(create, key)).rejects.toThrow('syntax error');
  expect(await tableRows()).toEqual(before);
});

test('the name of a value that is not a column of the table is never a part of the SQL', async () => {
  const fromClient = JSON.parse('{"name) VALUES (9); --":"x"}');
  const { created } = await carryOut(insertInto(PETS, { ...fromClient, ...MIA }));
  expect(created).toMatchObject({ id: '1' });
});
