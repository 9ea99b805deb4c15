/**
 * Every operation while D1 fails: its response, the single call of D1, and what D1 then stores. Reads and creates come from the
 * description, with its examples; a PATCH or DELETE needs a line in `CHANGES`.
 */
import { beforeEach, expect, test } from 'vitest';
import { creates, operations } from '../support/contract.ts';
import { EMPTY_TABLES } from '../support/server.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { type Reply, startStore } from '../support/store.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { insertPet, insertOrder, insertRowsOfExamples, createExample, tableRows } = stepsOf(store);

type Send = () => Promise<Reply>;

/** Creates with an idempotency key, each with the message of its 503. */
const KEYED = creates.map(({ operationId, examplePath, exampleBody }) => ({
  name: `${operationId} with a key`,
  send: () => store.send('POST', examplePath, exampleBody, { headers: { 'idempotency-key': 'k' } }),
  message:
    'The database did not respond. It is unknown whether the request was carried out. Retry with the same Idempotency-Key: it is carried out at most once.',
}));

const PLAIN = creates.map(({ operationId, examplePath, exampleBody }) => ({
  name: operationId,
  send: () => store.send('POST', examplePath, exampleBody),
  message: expect.stringContaining(
    'Check before you retry. To make retries safe, send an Idempotency-Key with the first request.',
  ),
}));

/** A request of each PATCH and DELETE, in the store that {@link setUp} makes. */
const CHANGES = [
  {
    name: 'updatePet',
    send: () => store.send('PATCH', '/v1/pets/1', { name: 'Max', status: 'sold' }),
    message:
      'The database did not respond. It is unknown whether the animal was changed. Check before you retry: the same change could overwrite a later one of another client.',
  },
  {
    name: 'deletePet',
    send: () => store.fetch('/v1/pets/1', { method: 'DELETE' }),
    message:
      'The database did not respond. It is unknown whether the animal was deleted. A retry is safe: 404 means that the animal is deleted.',
  },
  {
    name: 'updateOrder',
    send: () => store.send('PATCH', '/v1/store/orders/7', { status: 'delivered' }),
    message:
      'The database did not respond. It is unknown whether the order was changed. A retry is safe: setting the current status again changes nothing.',
  },
];

/** Creates an item of each collection, with the id 1, and an order that can be delivered. */
async function setUp() {
  for (const create of creates) await createExample(create);
  // The orders have taken the animals.
  await insertRowsOfExamples();
  await insertPet({ id: 7, status: 'pending' });
  await insertOrder({ id: 7, petId: 7, status: 'approved' });
}

beforeEach(setUp);

test('every PATCH and DELETE of the description has a line in CHANGES', () => {
  const described = operations.filter(({ method }) => method === 'PATCH' || method === 'DELETE');
  const names = CHANGES.map(({ name }) => name);
  expect(names.sort()).toEqual(described.map(({ operationId }) => operationId).sort());
});

/** Sends an operation while its call of D1 has a fault: the response is its 503, after one call. */
async function expectUnavailable(send: Send, message: unknown, fault: Fault) {
  await store.fault({ d1: [fault] });
  const reply = await send();
  expectError(reply, 503, 'service_unavailable', message);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect((await store.calls()).d1).toBe(1);
}

/** What D1 stores, without the times and the UUIDs in names, which differ from run to run. */
async function stored() {
  const varying = /\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{13}\b|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return JSON.stringify(await tableRows()).replaceAll(varying, '…');
}

/** What D1 stores after the write without a fault. Then sets the store up again. */
async function storedAfter(send: Send) {
  const before = await stored();
  expect((await send()).status).toBeLessThan(300);
  const after = await stored();
  expect(after).not.toBe(before);
  await store.exec(EMPTY_TABLES);
  await setUp();
  return after;
}

// Those that need a key; the health check needs none.
test.each(operations.filter(({ method, operation }) => method === 'GET' && !operation.security))(
  '$operationId is a 503 while D1 fails, then works',
  async ({ examplePath }) => {
    const read = () => store.fetch(examplePath);
    await expectUnavailable(read, 'The database is temporarily unavailable.', 'throws');
    expect((await read()).status).toBe(200);
  },
);

test.each([...KEYED, ...PLAIN, ...CHANGES])(
  '$name is a 503 when D1 rejects it, and stores nothing',
  async (write) => {
    // Otherwise, a write that changes nothing would pass.
    await storedAfter(write.send);
    const before = await stored();
    await expectUnavailable(write.send, write.message, 'throws');
    expect(await stored()).toBe(before);
  },
);

test.each(KEYED)('$name takes effect once if D1 executes it after a retry', async (write) => {
  const after = await storedAfter(write.send);
  await expectUnavailable(write.send, write.message, 'runs late');
  const { status, headers } = await write.send();
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
  expect(await stored()).toBe(after);
});

test.each(KEYED)('a retry of $name gets the response that was lost', async (write) => {
  const after = await storedAfter(write.send);
  await expectUnavailable(write.send, write.message, 'loses the response');
  const { headers, text } = await write.send();
  expect(headers.get('idempotency-replayed')).toBe('true');
  const { pathname } = new URL(headers.get('location') ?? '');
  expect((await store.fetch(pathname)).text).toBe(text);
  expect(await stored()).toBe(after);
});
