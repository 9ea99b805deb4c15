/** Ids in paths. */
import { expect, test } from 'vitest';
import { operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import {
  deletePet,
  expectError,
  expectUnchanged,
  insertPets,
  updateOrder,
  updatePet,
} from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const IDS = [
  ...['abc', '1.5', '1e3', '0x10', '+1', '--1', '-', '%201', '%37', '1%0A', '%EF%BC%95', '1%2F2'],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)],
];

test.each(IDS.map((id) => [id.slice(0, 40), id]))('%s is not an id', async (_, id) => {
  const message = 'petId: must be an integer from -9223372036854775808 to 9223372036854775807';
  expectError(await send('GET', `/v1/pets/${id}`), 400, 'invalid_request', message);
});

test.each(
  operations.flatMap(({ method, path }) => (path.endsWith('Id}') ? [{ method, path }] : [])),
)('$method $path with an unknown id is a 404 without a change', async ({ method, path }) => {
  await insertPets(store, 'available');
  const isOrder = path.includes('order');
  const body = method === 'PATCH' ? { status: isOrder ? 'placed' : 'sold' } : undefined;
  const url = path.replace(/\{\w+\}/, '-9223372036854775808');
  const reply = await expectUnchanged(store, () => store.send(method, url, body));
  // Such as `pet` of `/pets/{petId}`.
  const name = path.split('/').at(-2)?.replace(/s$/, '');
  const noun = name === 'pet' ? 'animal' : name;
  const message = `There is no ${noun} with the id -9223372036854775808.`;
  expectError(reply, 404, `${name}_not_found`, message);
});

test('operations change exactly the animal and the order with an id beyond 2^53', async () => {
  // As doubles, the ids are the same number.
  await store.exec(
    `INSERT INTO pets (id, name, category_id, status)
       VALUES (9007199254740992, 'Rex', 1, 'available'), (9007199254740993, 'Tom', 1, 'available');
     INSERT INTO orders (id, pet_id, status) VALUES (9007199254740992, 1, 'cancelled')`,
  );
  const id = '9007199254740993';
  const key = { headers: { 'idempotency-key': 'k' } };
  const placed = await store.placeOrder(`{"petId":${id}}`, key);
  const replayed = await store.placeOrder(`{"petId":${id}}`, key);
  for (const { text, headers } of [placed, replayed]) {
    expect(text).toContain(`{"id":${id},"petId":${id},`);
    expect(headers.get('location')).toBe(`${store.url()}/v1/store/orders/${id}`);
  }
  await updateOrder(store, id, 'cancelled');
  const { text } = await updatePet(store, id, { name: 'Max' });
  expect(text).toBe(`{"id":${id},"name":"Max","categoryId":1,"status":"available"}`);
  expect((await store.fetch(`/v1/pets/${id}`)).text).toBe(text);
  await deletePet(store, id);
  expect((await store.fetch('/v1/pets')).text).toBe(
    '[{"id":9007199254740992,"name":"Rex","categoryId":1,"status":"available"}]',
  );
});
