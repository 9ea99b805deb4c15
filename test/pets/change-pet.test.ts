/** updatePet and deletePet, also of an animal with an order. */
import { expect, test } from 'vitest';
import {
  contents,
  deletePet,
  expectError,
  expectUnchanged,
  insertOrder,
  insertPets,
  updatePet,
} from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();

test.each([
  ['{"name":"Max"}', '"name":"Max","categoryId":3,"status":"available"'],
  ['{"categoryId":0}', '"name":"Rex","categoryId":0,"status":"available"'],
  ['{"status":"sold"}', '"name":"Rex","categoryId":3,"status":"sold"'],
  ['{"categoryId":-9007199254740993,"status":null}', '"name":"Rex","categoryId":-9007199254740993'],
])('the patch %s changes only its fields', async (patch, expected) => {
  await insertPets(store, 'available', 'available');
  const reply = await updatePet(store, 2, patch);
  expect([reply.status, reply.text]).toEqual([200, `{"id":2,${expected}}`]);
  expect((await store.fetch('/v1/pets')).text).toBe(
    `[{"id":1,"name":"Rex","categoryId":3,"status":"available"},${reply.text}]`,
  );
});

test('a deletion deletes no other animal, and ignores a body that is not JSON', async () => {
  await insertPets(store, 'available', 'available');
  const reply = await store.fetch('/v1/pets/2', { method: 'DELETE', body: '{' });
  expect([reply.status, reply.text]).toEqual([204, '']);
  expect(reply.headers.has('content-type')).toBe(false);
  expect(await contents(store)).toEqual(['animal 1 Rex 3 available']);
});

const CHANGES = [
  {
    change: 'setting the status',
    send: () => updatePet(store, 2, { status: 'sold' }),
    after: ['animal 2 Rex 3 sold'],
  },
  {
    change: 'removing the status',
    send: () => updatePet(store, 2, { name: 'Max', status: null }),
    after: ['animal 2 Max 3'],
  },
  { change: 'deleting the animal', send: () => deletePet(store, 2), after: [] },
];

test.each(
  ['delivered', 'cancelled'].flatMap((closed) => CHANGES.map((each) => ({ ...each, closed }))),
)('$change is refused until the order is $closed', async ({ closed, send, after }) => {
  await insertPets(store, 'pending', 'pending');
  // The order 1 stays open: it is one of the other animal.
  await insertOrder(store, 1, 'placed');
  await insertOrder(store, 2, 'placed');
  for (const open of ['placed', 'approved']) {
    await store.exec(`UPDATE orders SET status = '${open}' WHERE id = 2`);
    const message =
      'The animal 2 has an open order. Until the order is delivered or cancelled, its status cannot be set and it cannot be deleted.';
    expectError(await expectUnchanged(store, send), 409, 'pet_has_open_order', message);
  }
  await store.exec(`UPDATE orders SET status = '${closed}' WHERE id = 2`);
  await send();
  const others = ['order 1 of 1 placed', `order 2 of 2 ${closed}`];
  expect(await contents(store)).toEqual(['animal 1 Rex 3 pending', ...after, ...others]);
});

test('the name and category of an animal with an open order can be changed', async () => {
  await insertPets(store, 'pending');
  await insertOrder(store, 1, 'placed');
  const { text } = await updatePet(store, 1, { name: 'Max', categoryId: 4 });
  expect(text).toBe('{"id":1,"name":"Max","categoryId":4,"status":"pending"}');
});
