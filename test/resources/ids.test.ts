/** Ids in paths. */
import { expect, test } from 'vitest';
import { operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { deletePet, expectError, expectUnchanged, insertPets, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

test.each([
  ...['abc', '1.5', '1e3', '0x10', '+1', '--1', '-', '%201', '%37', '1%0A', '%EF%BC%95', '1%2F2'],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)],
])('the id %s is not an int64 in decimal digits', async (id) => {
  const message = 'petId: must be an integer from -9223372036854775808 to 9223372036854775807';
  expectError(await send('GET', `/v1/pets/${id}`), 400, 'invalid_request', message);
});

test.each(
  operations.flatMap(({ method, path }) => (path.endsWith('Id}') ? [{ method, path }] : [])),
)('$method $path with an unknown id is a 404 that changes nothing', async ({ method, path }) => {
  await insertPets(store, 'available');
  const isOrder = path.includes('order');
  const body = method === 'PATCH' ? { status: isOrder ? 'placed' : 'sold' } : undefined;
  const url = path.replace(/\{\w+\}/, '-9223372036854775808');
  const reply = await expectUnchanged(store, () => store.send(method, url, body));
  const [code, noun] = isOrder ? ['order_not_found', 'order'] : ['pet_not_found', 'animal'];
  expectError(reply, 404, code, `There is no ${noun} with the id -9223372036854775808.`);
});

// As doubles, the three ids of these animals are the same number.
const ADJACENT = `INSERT INTO pets (id, name, category_id, status) VALUES
  (9007199254740992, 'Rex', 1, 'available'), (9007199254740993, 'Tom', 1, 'available'),
  (9007199254740994, 'Ada', 1, 'available')`;

test('operations distinguish animals with adjacent ids beyond 2^53', async () => {
  await store.exec(ADJACENT);
  const { text } = await updatePet(store, '9007199254740993', { name: 'Max', status: null });
  expect(text).toBe('{"id":9007199254740993,"name":"Max","categoryId":1}');
  expect((await store.fetch('/v1/pets/9007199254740993')).text).toBe(text);
  expect((await deletePet(store, '9007199254740994')).status).toBe(204);
  expect((await store.fetch('/v1/pets')).text).toBe(
    `[{"id":9007199254740992,"name":"Rex","categoryId":1,"status":"available"},${text}]`,
  );
});

test('operations distinguish orders with adjacent ids beyond 2^53', async () => {
  await store.exec(ADJACENT);
  await store.exec(
    "INSERT INTO orders (id, pet_id, status) VALUES (9007199254740992, 1, 'placed')",
  );
  const place = () =>
    store.placeOrder('{"petId":9007199254740993}', { headers: { 'idempotency-key': 'k' } });
  const placed = await place();
  expect(placed.text).toContain('{"id":9007199254740993,"petId":9007199254740993,');
  const path = '/v1/store/orders/9007199254740993';
  for (const { headers } of [placed, await place()])
    expect(headers.get('location')).toBe(store.url() + path);
  const cancelled = await store.send('PATCH', path, { status: 'cancelled' });
  expect(cancelled.text).toBe(placed.text.replace('placed"', 'cancelled"'));
  expect((await store.fetch('/v1/pets?status=available')).body).toHaveLength(3);
});
