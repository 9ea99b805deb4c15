/** The one transaction of `createOnce`, with creates that no operation has. */
import '../../src/http/bigint-to-json.ts';
import { Hono } from 'hono';
import { beforeAll, expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { AppEnv } from '../../src/context.ts';
import { sql } from '../../src/d1/sql.ts';
import { ApiError } from '../../src/errors.ts';
import { parseJson } from '../../src/http/json.ts';
import { type Create, type CreateContext, createOnce } from '../../src/idempotency/create-once.ts';
import { accessLog } from '../../src/middleware/access-log.ts';
import { operation } from '../../src/operation/operation.ts';
import { PetPath } from '../../src/pets/schemas.ts';
import { stopTime } from '../support/in-process.ts';
import { stepsOf } from '../support/steps.ts';
import { startStore } from '../support/store.ts';
import { headersOf, stubLimiters } from '../support/stubs.ts';

const store = startStore();
const { insertPet, insertOrder, tableRows, expectUnchanged } = stepsOf(store);

type Item = { name: string };
type Refusal = NonNullable<Create<Item>['refusal']>;

const MIA: Create<Item> = {
  into: 'pets',
  row: { name: 'Mia', category_id: 3n },
  item: { name: 'Mia' },
};

/** Answers the next request. */
let handle: (c: CreateContext) => Promise<object>;
/** What it threw. */
let thrown: Error | undefined;

const app = new Hono<AppEnv>();
app.use(accessLog);
app.post(
  '/:petId',
  operation({
    operationId: 'addPhoto',
    scope: 'write',
    param: PetPath,
    json: z.strictObject({}),
    acceptsIdempotencyKey: true,
    effect: 'the photo was added',
  }),
  async (c) => c.json(await handle(c)),
);
app.onError((error, c) => {
  thrown = error;
  return c.text('', 500);
});

let apiKey: string;
beforeAll(async () => {
  apiKey = await store.issueKey();
});

/** Sends a request, with or without an idempotency key, that carries out a create in the database. */
async function carryOut(create: Create<Item>, key?: string, path = '/1') {
  return sendTo((c) => createOnce(c, create), key, path);
}

async function sendTo(handler: typeof handle, key?: string, path = '/1') {
  stopTime();
  handle = handler;
  thrown = undefined;
  const headers = headersOf({ path, headers: { ...(key && { 'idempotency-key': key }) } }, apiKey);
  const bindings = { ...store.bindings(), ...stubLimiters, DB: withPause(store.bindings().DB) };
  const response = await app.request(path, { method: 'POST', headers, body: '{}' }, bindings);
  if (thrown) throw thrown;
  return parseJson(await response.text());
}

/** Called before each transaction. */
let pause = async () => {};

function withPause(database: D1Database) {
  const withSession = (start: string) => {
    const session = database.withSession(start);
    return {
      prepare: (text: string) => session.prepare(text),
      getBookmark: () => session.getBookmark(),
      async batch(statements: D1PreparedStatement[]) {
        await pause();
        return session.batch(statements);
      },
    };
  };
  return { withSession };
}

const KEYS = [undefined, 'k'];

test.each(KEYS)('with the key %s, a violated constraint undoes every statement', async (key) => {
  await insertOrder({ petId: 7, status: 'placed' });
  const ordered = sql`INSERT INTO orders (pet_id) VALUES (7)`;
  await expectUnchanged(async () => {
    const twice = carryOut({ ...MIA, followedBy: () => [ordered] }, key);
    await expect(twice).rejects.toThrow('UNIQUE constraint failed: orders.pet_id');
  });
});

/** Refuses a pet that violates a constraint of this column. */
const refusalOf = (column: string): Refusal => ({
  column,
  error: sql`${JSON.stringify(new ApiError('not_found', 'There is no pet.'))}`,
});
/** Its name is that of the pet 7. */
const NAMESAKE = {
  ...MIA,
  row: { name: sql`(SELECT name FROM pets WHERE id = 7)`, category_id: 3n },
};

test.each(KEYS)('with the key %s, a violated constraint becomes the refusal', async (key) => {
  const refused = await carryOut({ ...NAMESAKE, refusal: refusalOf('name') }, key).catch(Object);
  expect(refused).toMatchObject({
    code: 'not_found',
    message: 'There is no pet.',
    cause: { message: expect.stringContaining('NOT NULL constraint failed: pets.name') },
  });
});

test('a refusal is recorded, and closes its key for the same request and for any other', async () => {
  const create = { ...NAMESAKE, refusal: refusalOf('name') };
  await expect(carryOut(create, 'k')).rejects.toThrow('There is no pet.');
  const item = '{"code":"not_found","message":"There is no pet.","status":404}';
  expect(await tableRows()).toMatchObject({ idempotency_keys: [{ item_id: null, item }] });
  await insertPet({ id: 7, name: 'Mia' });
  await expectUnchanged(async () => {
    await expect(carryOut(create, 'k')).rejects.toThrow('There is no pet.');
    await expect(carryOut(create, 'k', '/2')).rejects.toThrow('another path');
  });
  expect(await carryOut(create, 'another')).toEqual({ id: 8n, name: 'Mia' });
});

test('a request that is refused returns the item of another one with its key', async () => {
  const create = { ...NAMESAKE, refusal: refusalOf('name') };
  const other = async () => {
    pause = async () => {};
    await insertPet({ id: 7, name: 'Mia' });
    expect(await carryOut(create, 'k')).toEqual({ id: 8n, name: 'Mia' });
  };
  // Between the transactions of the first one.
  pause = async () => {
    pause = other;
  };
  expect(await carryOut(create, 'k')).toEqual({ id: 8n, name: 'Mia' });
  expect(await tableRows()).toMatchObject({ idempotency_keys: [{ item_id: 8 }] });
});

test.each([
  {
    of: 'another column',
    column: 'name',
    failed: 'pets.category_id',
    change: { row: { name: 'Mia', category_id: null } },
  },
  {
    of: 'the same column in another table',
    column: 'status',
    failed: 'orders.status',
    change: { followedBy: () => [sql`INSERT INTO orders (pet_id, status) VALUES (1, NULL)`] },
  },
])('a constraint of $of is a mistake of ours', async ({ column, failed, change }) => {
  const create = { ...MIA, ...change, refusal: refusalOf(column) };
  await expect(carryOut(create, 'k')).rejects.toThrow(`constraint failed: ${failed}`);
});

test.each(KEYS)('with the key %s, the writes that follow get the id of the row', async (key) => {
  // As texts, '10' comes before '9'. The record of the key has the id 1, and the first order the id 2.
  await insertPet({ id: 9 });
  await insertOrder({ petId: 1, status: 'delivered' });
  const created = await carryOut(
    {
      ...MIA,
      followedBy: (id) => [
        sql`INSERT INTO orders (pet_id) VALUES (${id})`,
        sql`UPDATE pets SET name = 'Tom' WHERE id = ${id}`,
        sql`INSERT INTO orders (pet_id, status) VALUES (${id}, 'cancelled')`,
      ],
    },
    key,
  );
  expect(created.id).toBe(10n);
  expect(await tableRows()).toMatchObject({
    pets: [{ id: 9 }, { id: 10, name: 'Tom' }],
    orders: [{ pet_id: 1 }, { pet_id: 10 }, { pet_id: 10 }],
    idempotency_keys: key ? [{ item_id: 10, item: '{"name":"Mia"}' }] : [],
  });
});

test('a replay has the id of its row, also if the writes that follow insert into the same table', async () => {
  const twin = sql`INSERT INTO pets (name, category_id) VALUES ('Tom', 3)`;
  const create = { ...MIA, followedBy: () => [twin] };
  expect(await carryOut(create, 'k')).toEqual({ id: 1n, name: 'Mia' });
  expect(await carryOut(create, 'k')).toEqual({ id: 1n, name: 'Mia' });
});

test.each(KEYS)('with the key %s, a request creates only one item', async (key) => {
  const sending = sendTo(async (c) => {
    await createOnce(c, MIA);
    return createOnce(c, MIA);
  }, key);
  await expect(sending).rejects.toThrow('only once');
  expect(await tableRows()).toMatchObject({ pets: [{ id: 1 }] });
});

test('the name of a table or a column is not any text', async () => {
  const create = { ...MIA, row: { 'name) VALUES (1); --': 'Mia' } };
  await expect(carryOut(create)).rejects.toThrow('is not a name');
});

test('the same body below another path is another request', async () => {
  const first = await carryOut(MIA, 'k', '/1');
  expect(await carryOut(MIA, 'k', '/01')).toEqual(first);
  await expectUnchanged(() => expect(carryOut(MIA, 'k', '/2')).rejects.toThrow('another path'));
});

test('a mistake leaves an expired record, which is not the response', async () => {
  const refused = sql`INSERT INTO orders (pet_id) SELECT NULL FROM orders`;
  const create = { ...MIA, followedBy: () => [refused] };
  await carryOut(create, 'k');
  await store.exec('UPDATE idempotency_keys SET created_at = 0');
  await insertOrder({ petId: 1, status: 'delivered' });
  await expectUnchanged(() =>
    expect(carryOut(create, 'k')).rejects.toThrow('NOT NULL constraint failed'),
  );
});
