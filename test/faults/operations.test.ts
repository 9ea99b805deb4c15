/**
 * Every operation while D1 fails: its response, the single call of D1, and what D1 then stores. The operations come from the
 * description, with its examples.
 */
import { expect, test } from 'vitest';
import {
  changes,
  creates,
  type Described,
  operations,
  readable,
  unavailableOf,
} from '../support/contract.ts';
import { expectError, stepsOf } from '../support/steps.ts';
import { type Reply, startStore } from '../support/store.ts';
import type { Fault } from './fault.ts';

const store = startStore({ faults: true, env: 'staging' });
const { insertRowsOfExamples, createExample, tableRows } = stepsOf(store);

type Send = () => Promise<Reply>;
/** A create has no `create`: it is sent to a store that has an item of each collection. */
type Write = { send: Send; create?: Described | undefined };

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

/** A request of each PATCH and DELETE, with the example of its body. */
const CHANGES = changes.map((change) => ({
  name: change.operationId,
  create: change.create,
  send: () => store.send(change.method, change.examplePath, change.exampleBody),
  message: unavailableOf(change),
}));

/** Creates an item of each collection, with the id 1. `last` is created last: other creates could use what it has changed. */
async function setUp(last?: Described) {
  const others = creates.filter((each) => each !== last);
  for (const create of others) await createExample(create);
  // The orders have taken the animals.
  await insertRowsOfExamples();
  if (last) await createExample(last);
}

/** Sends an operation while its calls of D1 have a fault: the response is its 503, after these calls. */
async function expectUnavailable(send: Send, message: unknown, fault: Fault, calls = 1) {
  await store.fault({ d1: Array(calls).fill(fault) });
  const reply = await send();
  expectError(reply, 503, 'service_unavailable', message);
  expect(reply.headers.get('retry-after')).toBe('5');
  expect((await store.calls()).d1).toBe(calls);
}

/** What D1 stores, without the times and the UUIDs in names, which differ from run to run. */
async function stored() {
  const varying = /\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{13}\b|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
  return JSON.stringify(await tableRows()).replaceAll(varying, '…');
}

/** Sets the store up for a write, and returns what D1 stores after it without a fault. Then sets the store up again. */
async function storedAfter({ send, create }: Write) {
  await setUp(create);
  const before = await stored();
  expect((await send()).status).toBeLessThan(300);
  const after = await stored();
  expect(after).not.toBe(before);
  await store.emptyTables();
  await setUp(create);
  return after;
}

// Those that need a key; the health check needs none.
test.each(operations.filter(({ method, operation }) => method === 'GET' && !operation.security))(
  '$operationId is a 503 while D1 fails, then works',
  async ({ examplePath }) => {
    await setUp();
    const read = () => store.fetch(examplePath);
    await expectUnavailable(read, 'The database is temporarily unavailable.', 'throws');
    expect((await read()).status).toBe(200);
  },
);

// After a transient error, a create with a key is sent again, twice at most.
test.each([...KEYED.map((each) => ({ ...each, calls: 3 })), ...PLAIN, ...CHANGES])(
  '$name is a 503 when D1 rejects it, and stores nothing',
  async ({ calls, ...write }: Write & { message: unknown; calls?: number }) => {
    // Otherwise, a write that changes nothing would pass.
    await storedAfter(write);
    const before = await stored();
    await expectUnavailable(write.send, write.message, 'throws', calls);
    expect(await stored()).toBe(before);
  },
);

const D1_OVERLOADED = { text: 'D1_ERROR: D1 DB is overloaded. Too many requests queued.' };

test.each(KEYED)(
  '$name is not sent again after an error that D1 does not call transient',
  async (write) => {
    await setUp();
    await expectUnavailable(write.send, write.message, D1_OVERLOADED);
  },
);

test.each(KEYED)('$name succeeds if D1 fails twice', async (write) => {
  const after = await storedAfter(write);
  await store.fault({ d1: ['throws', 'throws'] });
  const { status, headers } = await write.send();
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
  expect(await stored()).toBe(after);
  expect((await store.logLines()).at(-1)).toMatchObject({ status: 201, d1Retries: 2 });
});

test.each([
  ...KEYED.map((write) => ({ ...write, faults: ['runs late'] })),
  ...KEYED.map((write) => ({ ...write, faults: ['runs late', 'runs late'] })),
])('$name takes effect once if D1 executes $faults after its retry', async (write) => {
  const after = await storedAfter(write);
  await store.fault({ d1: write.faults as Fault[] });
  const { status, headers } = await write.send();
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
  expect(await stored()).toBe(after);
});

test.each(KEYED)('$name takes effect once if only its response was lost', async (write) => {
  const after = await storedAfter(write);
  await store.fault({ d1: ['loses the response'] });
  const { status, headers, text } = await write.send();
  expect([status, headers.get('idempotency-replayed')]).toEqual([201, 'true']);
  const { pathname } = new URL(headers.get('location') ?? '');
  for (const address of readable([pathname])) expect((await store.fetch(address)).text).toBe(text);
  expect(await stored()).toBe(after);
});

test.each(KEYED)('$name whose record cannot be read may have been carried out', async (write) => {
  await setUp();
  await store.fault({ d1: ['loses the response', 'works', 'throws'] });
  expectError(await write.send(), 503, 'service_unavailable', write.message);
  expect((await write.send()).headers.get('idempotency-replayed')).toBe('true');
});
