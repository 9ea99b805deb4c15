/** The secret WRITES_STOPPED, which lets operators stop writes while reads still work. */
import { beforeEach, expect, test } from 'vitest';
import { expectError, expectUnchanged } from './orders/steps.ts';
import { startStore } from './store.ts';

const store = startStore({ faults: true });

const MESSAGE = 'Writes are temporarily stopped; reads still work. Retry later.';
const ADA = { name: 'Ada', categoryId: 2 };
const KEYED = { headers: { 'idempotency-key': 'k' } };

const stopWrites = () => store.fault({ vars: { WRITES_STOPPED: 'since 12:00' } });
const resumeWrites = () => store.fault({});

/** Pet 1 has the open order 1, pet 2 has none. */
beforeEach(() =>
  store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 1, 'pending'), (2, 'Max', 1, 'available');
     INSERT INTO orders (id, pet_id) VALUES (1, 1)`,
  ),
);

test.each([
  ['POST', '/v1/pets', ADA],
  ['PATCH', '/v1/pets/2', { name: 'Ada' }],
  ['DELETE', '/v1/pets/2', undefined],
  ['POST', '/v1/store/orders', { petId: 2 }],
  ['PATCH', '/v1/store/orders/1', { status: 'approved' }],
])('%s %s is a 503 with Retry-After, and does not reach D1', async (method, path, body) => {
  await stopWrites();
  const rejected = await expectUnchanged(store, () => store.send(method, path, body));
  expectError(rejected, 503, 'service_unavailable', MESSAGE);
  expect(rejected.headers.get('retry-after')).toBe('5');
  expect((await store.calls()).d1).toBe(0);
});

test.each([
  ['an invalid path, query and body', '/v1/pets/x?y', '{'],
  ['an animal that does not exist', '/v1/pets/77', '{"name":"Ada"}'],
])('a change with %s is the same 503', async (_, path, body) => {
  await stopWrites();
  expectError(await store.send('PATCH', path, body), 503, 'service_unavailable', MESSAGE);
});

test('a replay is the same 503, and succeeds after writes have resumed', async () => {
  const first = await store.create(ADA, KEYED);
  await stopWrites();
  expectError(await store.create(ADA, KEYED), 503, 'service_unavailable', MESSAGE);
  await resumeWrites();
  expect(await store.create(ADA, KEYED)).toMatchObject({ status: 201, text: first.text });
});

test('a stopped create succeeds with the same key after writes have resumed', async () => {
  await stopWrites();
  expect((await store.create(ADA, KEYED)).status).toBe(503);
  await resumeWrites();
  const created = await store.create(ADA, KEYED);
  expect([created.status, created.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

test.each(['/v1/pets', '/v1/pets/1', '/v1/store/orders', '/v1/store/orders/1', '/health'])(
  'GET %s still works',
  async (path) => {
    await stopWrites();
    expect((await store.fetch(path)).status).toBe(200);
  },
);

test('a write without a valid key or the scope is rejected as always', async () => {
  await stopWrites();
  const create = (authorization: string | null) =>
    store.create(ADA, { headers: { authorization } });
  expect((await create(null)).status).toBe(401);
  expect((await create(`Bearer ${await store.issueKey({ scopes: ['read'] })}`)).status).toBe(403);
});

test('an empty secret does not stop writes', async () => {
  await store.fault({ vars: { WRITES_STOPPED: '' } });
  expect((await store.create(ADA)).status).toBe(201);
});
