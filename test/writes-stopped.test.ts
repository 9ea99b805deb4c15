/** The secret WRITES_STOPPED, which lets operators stop writes while reads still work. */
import { expect, test } from 'vitest';
import { operations } from './contract.ts';
import { addOrder, addPet, expectError, expectUnchanged } from './orders/steps.ts';
import { startStore } from './store.ts';

const store = startStore({ faults: true });

const ADA = { name: 'Ada', categoryId: 2 };
const KEYED = { headers: { 'idempotency-key': 'k' } };
const stopWrites = () => store.fault({ vars: { WRITES_STOPPED: 'since 12:00' } });
const pathOf = (path: string) => path.replace(/\{\w+\}/, '1');

test.each(operations.filter(({ method }) => method !== 'GET'))(
  'while writes are stopped, $operation.operationId is a 503 before it is validated',
  async ({ method, path }) => {
    await addOrder(store, await addPet(store));
    await stopWrites();
    const reply = await expectUnchanged(store, () => store.send(method, pathOf(path), '{'));
    const message = 'Writes are temporarily stopped; reads still work. Retry later.';
    expectError(reply, 503, 'service_unavailable', message);
    expect((await store.calls()).d1).toBe(0);
    const cause = 'The secret WRITES_STOPPED is set.';
    expect((await store.logLines()).at(-1)).toMatchObject({ cause, keyId: 'suite' });
  },
);

test('while writes are stopped, reads still work', async () => {
  await addOrder(store, await addPet(store));
  await stopWrites();
  for (const { method, path } of operations)
    if (method === 'GET') expect((await store.fetch(pathOf(path))).status).toBe(200);
});

test('a stopped create succeeds with the same key after writes have resumed', async () => {
  await stopWrites();
  expect((await store.create(ADA, KEYED)).status).toBe(503);
  // An empty secret does not stop writes.
  await store.fault({ vars: { WRITES_STOPPED: '' } });
  const created = await store.create(ADA, KEYED);
  expect([created.status, created.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

test('while writes are stopped, a key without the scope is rejected as always', async () => {
  await stopWrites();
  const authorization = `Bearer ${await store.issueKey({ scopes: ['read'] })}`;
  expect((await store.create(ADA, { headers: { authorization } })).status).toBe(403);
});
