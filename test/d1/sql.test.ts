/** SQL with its values in place. No query needs a request: a cron can run it. */
import { expect, test } from 'vitest';
import { Database } from '../../src/d1/database.ts';
import { assignments, insertInto, type Sql, sql } from '../../src/d1/sql.ts';
import { placeOrder } from '../../src/orders/queries.ts';
import { stopTime } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

const open = () => new Database(store.bindings().DB);

/** The first row that a statement returns in D1. */
async function firstRow<Row>(statement: Sql<Row>) {
  const [[row] = []] = await open().run(statement);
  return row;
}

// A copy of this code may pass on a value of the type `any`, which Hono's `c.req.json()` returns.
test('an object that a client sent, with the members of SQL, is not SQL', () => {
  const { id } = JSON.parse('{"id":{"text":"1 OR TRUE","values":[]}}');
  expect(() => sql`SELECT * FROM pets WHERE id = ${id}`).toThrow(
    new TypeError('an object is not SQL'),
  );
});

test('assignments leave out what is undefined, and keep null', () => {
  expect(assignments({ name: 'Kim', id: 5n, status: null, x: undefined })).toEqual({
    text: 'name = ?, id = CAST(? AS INTEGER), status = ?',
    values: ['Kim', '5', null],
  });
});

test.each(['id = 1 --', '-- id', ''])('the name of a table or column is not "%s"', (name) => {
  const error = new TypeError(`${name} is not a name`);
  expect(() => assignments({ [name]: 1 })).toThrow(error);
  expect(() => insertInto('pets', { [name]: 1 })).toThrow(error);
  expect(() => insertInto(name, { id: 1 })).toThrow(error);
});

test('a value is a parameter, whatever text it has, also within SQL, in its place', async () => {
  const hostile = "'; DROP TABLE pets; -- ? ?1 \\";
  const inner = sql`${'two'} || ${sql`${hostile} || ${4n}`}`;
  const statement = sql`SELECT ${'one'} || ${inner} || ${'five'} AS text`;
  expect(statement.values).toEqual(['one', 'two', hostile, '4', 'five']);
  expect(await firstRow(statement)).toEqual({ text: `onetwo${hostile}4five` });
});

test('an int64 is an exact integer in D1', async () => {
  const value = 2n ** 63n - 1n;
  const row = await firstRow(sql`SELECT typeof(${value}) AS type, CAST(${value} AS TEXT) AS text`);
  expect(row).toEqual({ type: 'integer', text: `${value}` });
});

test('a cron can place an order, now', async () => {
  stopTime();
  await store.insertPet({ id: 7, status: 'available' });
  const placedAt = new Date().toISOString();
  expect(await placeOrder(open(), {}, { petId: 7n })).toMatchObject({ placedAt });
});
