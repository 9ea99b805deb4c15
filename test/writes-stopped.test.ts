/** The secret WRITES_STOPPED, which lets operators stop writes while reads still work. */
import { beforeEach, expect, test } from 'vitest';
import { operations } from './contract.ts';
import { expectError, expectUnchanged } from './orders/steps.ts';
import { startStore } from './store.ts';

const store = startStore({ faults: true });

const MESSAGE = 'Writes are temporarily stopped; reads still work. Retry later.';
const ADA = { name: 'Ada', categoryId: 2 };
const KEYED = { headers: { 'idempotency-key': 'k' } };

const stopWrites = () => store.fault({ vars: { WRITES_STOPPED: 'since 12:00' } });
const resumeWrites = () => store.fault({});

/** The pet 1 has the open order 1. */
beforeEach(() =>
  store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Rex', 1, 'pending');
     INSERT INTO orders (id, pet_id) VALUES (1, 1)`,
  ),
);

const CALLS = operations.map(({ method, path, operation: { operationId } }) => ({
  operationId,
  method,
  path: path.replace(/\{\w+\}/, '1'),
}));

test.each(CALLS.filter(({ method }) => method !== 'GET'))(
  'while writes are stopped, $operationId is a 503 before it is validated',
  async ({ method, path }) => {
    await stopWrites();
    const rejected = await expectUnchanged(store, () => store.send(method, path, '{'));
    expectError(rejected, 503, 'service_unavailable', MESSAGE);
    expect(rejected.headers.get('retry-after')).toBe('5');
    expect((await store.calls()).d1).toBe(0);
    const cause = 'The secret WRITES_STOPPED is set.';
    expect(await store.logLines()).toMatchObject([{ status: 503, cause, keyId: 'suite' }]);
  },
);

test.each(CALLS.filter(({ method }) => method === 'GET'))(
  'while writes are stopped, $operationId still works',
  async ({ path }) => {
    await stopWrites();
    expect((await store.fetch(path)).status).toBe(200);
  },
);

test('a stopped create succeeds with the same key after writes have resumed', async () => {
  await stopWrites();
  expect((await store.create(ADA, KEYED)).status).toBe(503);
  await resumeWrites();
  const created = await store.create(ADA, KEYED);
  expect([created.status, created.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

test('while writes are stopped, a key without the scope is rejected as always', async () => {
  await stopWrites();
  const authorization = `Bearer ${await store.issueKey({ scopes: ['read'] })}`;
  expect((await store.create(ADA, { headers: { authorization } })).status).toBe(403);
});

test('an empty secret does not stop writes', async () => {
  await store.fault({ vars: { WRITES_STOPPED: '' } });
  expect((await store.create(ADA)).status).toBe(201);
});
