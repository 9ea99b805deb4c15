/**
 * What `createOnce` offers, and no operation uses yet: paths with ids, and writes with the id of
 * the new row.
 */
import { Hono } from 'hono';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import type { AppEnv } from '../../src/context.ts';
import type { Database } from '../../src/d1/database.ts';
import { sql } from '../../src/d1/sql.ts';
import { ApiError } from '../../src/errors.ts';
import { createOnce, type Once } from '../../src/idempotency/create-once.ts';
import { accessLog } from '../../src/middleware/access-log.ts';
import { operation } from '../../src/operation/operation.ts';
import { PetPath } from '../../src/pets/schemas.ts';
import { stopTime } from '../support/in-process.ts';
import { startStore } from '../support/store.ts';
import { sendInProcess, stubBindings } from '../support/stubs.ts';

const store = startStore();
const MIA = { into: 'pets', row: { name: 'Mia', category_id: 3n }, item: { name: 'Mia' } };

let handle: (db: Database, once: Once) => Promise<object>;
const addPhoto = operation({
  operationId: 'addPhoto',
  scope: 'write',
  param: PetPath,
  query: z.strictObject({ size: z.optional(z.string()) }),
  json: z.strictObject({}),
  acceptsIdempotencyKey: true,
  effect: 'the photo was added',
});
const app = new Hono<AppEnv>();
app.use(accessLog);
app.post('/:petId', addPhoto, async (c) => c.json(await handle(c.get('db'), c.get('once'))));
app.onError((error, c) => c.json(error instanceof ApiError ? error.code : error.message));

/** Sends a request with an idempotency key to a handler, and returns the item, or its error. */
async function send(handler: typeof handle, path = '/1') {
  stopTime();
  handle = handler;
  const call = { path, method: 'POST', headers: { 'idempotency-key': 'k' }, body: '{}' };
  const bindings = { ...stubBindings(), DB: store.bindings().DB };
  const response = await sendInProcess(call, bindings, { to: app });
  return response.json();
}

test('the same body below another path is another request', async () => {
  const create: typeof handle = (db, once) => createOnce(db, once, MIA);
  const first = await send(create, '/1');
  expect(first).toEqual({ id: 1, name: 'Mia' });
  expect(await send(create, '/01')).toEqual(first);
  for (const path of ['/2', '/1?size=2'])
    expect(await store.expectUnchanged(() => send(create, path))).toBe('idempotency_key_reused');
});

test('the writes that follow get the id of the row, whatever they insert', async () => {
  // As texts, '10' comes before '9'. The record of the key has the id 1.
  await store.insertPet({ id: 9 });
  const create: typeof handle = (db, once) =>
    createOnce(db, once, {
      ...MIA,
      followedBy: (id) => [
        sql`INSERT INTO orders (pet_id) VALUES (${id})`,
        sql`UPDATE pets SET name = 'Tom' WHERE id = ${id}`,
        sql`INSERT INTO pets (name, category_id) VALUES ('Eve', 3)`,
      ],
    });
  expect(await send(create)).toEqual({ id: 10, name: 'Mia' });
  expect(await store.rows('pets')).toMatchObject([{}, { id: 10, name: 'Tom' }, { name: 'Eve' }]);
  expect(await store.rows('orders')).toMatchObject([{ pet_id: 10 }]);
  // A replay.
  expect(await send(create)).toEqual({ id: 10, name: 'Mia' });
});

test('a replay has the numbers of its item, whole ones too', async () => {
  const item = { weight: 3, ratio: 0.5 };
  const create: typeof handle = async (db, once) => {
    const { weight, ratio } = await createOnce(db, once, { ...MIA, item });
    return { weight: weight / 2, ratio: ratio / 2 };
  };
  const first = await send(create);
  expect(first).toEqual({ weight: 1.5, ratio: 0.25 });
  expect(await send(create)).toEqual(first);
});

test.each<[string, typeof handle]>([
  ['the handler must call createOnce', async () => ({ id: 1 })],
  [
    'call createOnce only once',
    async (db, once) => {
      await createOnce(db, once, MIA);
      return createOnce(db, once, MIA);
    },
  ],
])('the mistake of a handler is an error: %s', async (message, handler) => {
  expect(await send(handler)).toBe(message);
});
