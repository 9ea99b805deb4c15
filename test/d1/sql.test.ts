/** SQL with its values in place. */
import { expect, test } from 'vitest';
import { prepare } from '../../src/d1/execute.ts';
import { assignments, insertInto, type Sql, sql } from '../../src/d1/sql.ts';
import { startStore } from '../support/store.ts';

const store = startStore();

/** The first row that a statement returns in D1. */
async function firstRow<Row>(statement: Sql<Row>) {
  const { DB } = store.bindings();
  return prepare(DB, statement).first<Row>();
}

test('a string is a parameter, whatever text it has', async () => {
  const hostile = "'; DROP TABLE pets; -- ? ?1 \\";
  const statement = sql<{ text: string }>`SELECT ${hostile} AS text`;
  expect(statement).toMatchObject({ text: 'SELECT ? AS text', values: [hostile] });
  expect(await firstRow(statement)).toEqual({ text: hostile });
});

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

test('SQL within SQL keeps the order of the values', async () => {
  const inner = sql`${'two'} || ${sql`${'three'} || ${4n}`}`;
  const statement = sql`SELECT ${'one'} || ${inner} || ${'five'} AS text`;
  expect(statement.values).toEqual(['one', 'two', 'three', '4', 'five']);
  expect(await firstRow(statement)).toEqual({ text: 'onetwothree4five' });
});

test('an int64 is an exact integer in D1', async () => {
  const value = 2n ** 63n - 1n;
  const row = await firstRow(sql`SELECT typeof(${value}) AS type, CAST(${value} AS TEXT) AS text`);
  expect(row).toEqual({ type: 'integer', text: `${value}` });
});
