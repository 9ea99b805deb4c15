/** Ids in paths. */
import { expect, test } from 'vitest';
import { operations } from '../contract.ts';
import { startApp } from '../in-process.ts';
import { deletePet, expectError, expectUnchanged, seedStore, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';

test.each([
  ...['abc', '1.5', '1e3', '0x10', '+1', '--1', '-', '%201', '%37', '1%0A', '%EF%BC%95', '1%2F2'],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)],
])('the id %s is not an int64 in decimal digits', async (id) => {
  const reply = await send('GET', `/v1/pets/${id}`);
  expectError(reply, 400, 'invalid_request', `petId: ${INT64}`);
});

const WITH_ID = operations
  .filter(({ path }) => path.endsWith('Id}'))
  .map(({ method, path, operation: { operationId } }) => ({ operationId, method, path }));

test.each(WITH_ID)('$operationId rejects an invalid id', async ({ operationId, method, path }) => {
  const body = operationId === 'updatePet' ? '{"name":"Max"}' : '{"status":"approved"}';
  const [name] = /\w+Id/.exec(path) ?? [];
  const reply = await send(
    method,
    path.replace(/\{\w+\}/, '1.5'),
    method === 'PATCH' ? body : undefined,
  );
  expectError(reply, 400, 'invalid_request', `${name}: ${INT64}`);
});

test.each(WITH_ID)(
  '$operationId with an unknown id is a 404 that changes nothing',
  async (each) => {
    await seedStore(store, 1);
    const body = each.operationId === 'updatePet' ? { name: 'Max' } : { status: 'approved' };
    const path = each.path.replace(/\{\w+\}/, '-9223372036854775808');
    const request = () =>
      each.method === 'PATCH'
        ? store.send('PATCH', path, body)
        : store.fetch(path, { method: each.method });
    const [noun, code] = each.path.includes('orders') ? ['order', 'order'] : ['animal', 'pet'];
    const message = `There is no ${noun} with the id -9223372036854775808.`;
    expectError(await expectUnchanged(store, request), 404, `${code}_not_found`, message);
  },
);

test.each([
  { text: '-0', id: 0 },
  { text: '007', id: 7 },
])('$text is the id $id', async ({ text, id }) => {
  const message = `There is no animal with the id ${id}.`;
  expectError(await store.fetch(`/v1/pets/${text}`), 404, 'pet_not_found', message);
});

/** As doubles, these three are the same number. */
const [BELOW, ID, ABOVE] = ['9007199254740992', '9007199254740993', '9007199254740994'];
const insertPets = () =>
  store.exec(
    `INSERT INTO pets (id, name, category_id, status) SELECT value, 'Rex', value, 'available' FROM json_each('[${[BELOW, ID, ABOVE]}]')`,
  );

test('operations distinguish animals with adjacent ids beyond 2^53', async () => {
  await insertPets();
  const { text } = await updatePet(store, ID, { name: 'Max', status: null });
  expect(text).toBe(`{"id":${ID},"name":"Max","categoryId":${ID}}`);
  expect((await store.fetch(`/v1/pets/${ID}`)).text).toBe(text);
  expect((await deletePet(store, ABOVE)).status).toBe(204);
  expect((await store.fetch('/v1/pets')).text).toBe(
    `[{"id":${BELOW},"name":"Rex","categoryId":${BELOW},"status":"available"},${text}]`,
  );
});

test('operations distinguish orders with adjacent ids beyond 2^53', async () => {
  await insertPets();
  await store.exec(`INSERT INTO orders (id, pet_id, status) VALUES (${BELOW}, 1, 'cancelled')`);
  const path = `/v1/store/orders/${ID}`;
  const placed = await store.placeOrder(`{"petId":${ID}}`);
  expect(placed.text).toContain(`{"id":${ID},"petId":${ID},"status":"placed",`);
  expect(placed.headers.get('location')).toBe(store.url() + path);
  const cancelled = await store.send('PATCH', path, { status: 'cancelled' });
  expect(cancelled.text).toBe(placed.text.replace('placed"', 'cancelled"'));
  expect((await store.fetch('/v1/pets?status=available')).body).toHaveLength(3);
});
