/** Ids in paths. */
import { describe, expect, test } from 'vitest';
import { startApp } from '../in-process.ts';
import { deletePet, expectError, expectUnchanged, seedStore, updatePet } from '../orders/steps.ts';
import { startStore } from '../store.ts';

const store = startStore();
/** A request that reached D1 would be a 503. */
const send = startApp(store);

const JSON_TYPE = { 'content-type': 'application/json' };
const INT64 = 'must be an integer from -9223372036854775808 to 9223372036854775807';

test.each([
  ...['abc', '1.5', '1e3', '0x10', '+1', '--1', '-', '%201', '%37', '1%0A', '%EF%BC%95', '1%2F2'],
  ...['9223372036854775808', '-9223372036854775809', '9'.repeat(5000)],
])('the id %s is not an int64 in decimal digits', async (id) => {
  const reply = await send('GET', `/v1/pets/${id}`);
  expectError(reply, 400, 'invalid_request', `petId: ${INT64}`);
});

describe.each([
  ['getPet', 'GET', '/v1/pets', 'pet', 'animal', undefined],
  ['updatePet', 'PATCH', '/v1/pets', 'pet', 'animal', '{"name":"Max"}'],
  ['deletePet', 'DELETE', '/v1/pets', 'pet', 'animal', undefined],
  ['getOrder', 'GET', '/v1/store/orders', 'order', 'order', undefined],
  ['updateOrder', 'PATCH', '/v1/store/orders', 'order', 'order', '{"status":"approved"}'],
])('%s', (_, method, path, item, noun, body) => {
  test('rejects an invalid id', async () => {
    const reply = await send(method, `${path}/1.5`, body);
    expectError(reply, 400, 'invalid_request', `${item}Id: ${INT64}`);
  });

  test('finds nothing with an unknown id, and changes nothing', async () => {
    await seedStore(store, 1);
    const init = { method, headers: JSON_TYPE, ...(body && { body }) };
    const send = () => store.fetch(`${path}/-9223372036854775808`, init);
    const message = `There is no ${noun} with the id -9223372036854775808.`;
    expectError(await expectUnchanged(store, send), 404, `${item}_not_found`, message);
  });
});

test.each([
  ['-0', 0],
  ['007', 7],
])('%s is the id %i', async (text, id) => {
  const message = `There is no animal with the id ${id}.`;
  expectError(await store.fetch(`/v1/pets/${text}`), 404, 'pet_not_found', message);
});

/** As doubles, these three are the same number. */
const [BELOW, ID, ABOVE] = ['9007199254740992', '9007199254740993', '9007199254740994'];

test('operations distinguish animals with adjacent ids beyond 2^53', async () => {
  await store.exec(
    `INSERT INTO pets (id, name, category_id) SELECT value, 'Rex', value FROM json_each('[${[BELOW, ID, ABOVE]}]')`,
  );
  const { text } = await updatePet(store, ID, { name: 'Max' });
  expect(text).toBe(`{"id":${ID},"name":"Max","categoryId":${ID}}`);
  expect((await store.fetch(`/v1/pets/${ID}`)).text).toBe(text);
  expect((await deletePet(store, ABOVE)).status).toBe(204);
  expect((await store.fetch('/v1/pets')).text).toBe(
    `[{"id":${BELOW},"name":"Rex","categoryId":${BELOW}},${text}]`,
  );
});

test('operations distinguish orders and their animals with adjacent ids beyond 2^53', async () => {
  await store.exec(
    `INSERT INTO pets (id, name, category_id, status) SELECT value, 'Rex', 1, 'available' FROM json_each('[${[BELOW, ID, ABOVE]}]');
     INSERT INTO orders (id, pet_id, status) VALUES (${BELOW}, 1, 'cancelled')`,
  );
  const path = `/v1/store/orders/${ID}`;
  const placed = await store.placeOrder(`{"petId":${ID}}`);
  expect(placed.text).toContain(`{"id":${ID},"petId":${ID},"status":"placed",`);
  expect(placed.headers.get('location')).toBe(store.url() + path);
  expect((await store.fetch('/v1/pets?status=pending')).text).toContain(`[{"id":${ID},"name"`);
  const cancelled = await store.send('PATCH', path, { status: 'cancelled' });
  expect(cancelled.text).toBe(placed.text.replace('placed"', 'cancelled"'));
  expect((await store.fetch('/v1/pets?status=available')).body).toHaveLength(3);
});
