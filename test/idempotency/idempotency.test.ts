/** `Idempotency-Key`: a create is carried out once, also if D1 fails. */
import { expect, test } from 'vitest';
import type { Fault } from '../faults/fault.ts';
import { operations } from '../support/contract.ts';
import { exact, expectError, type Reply, startFaultyStore } from '../support/store.ts';

const store = startFaultyStore();

const withKey = (key: string) => ({ headers: { 'idempotency-key': key } });
const REX = { name: 'Rex', categoryId: 3 };

function expectFirst({ status, headers }: Reply) {
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
}

function expectReplay(reply: Reply, first: Reply) {
  expect(reply.status).toBe(201);
  expect(exact(reply)).toEqual(exact(first));
  expect(reply.headers.get('location')).toBe(first.headers.get('location'));
  expect(reply.headers.get('idempotency-replayed')).toBe('true');
}

/** Each has ids and numbers beyond 2^53. */
const CREATES = [
  {
    id: 'createPet',
    table: 'pets',
    send: () =>
      store.createPet('{"name":"Rex","categoryId":9007199254740993,"status":"sold"}', withKey('k')),
    retry: () =>
      store.createPet(
        '{ "status": "sol\\u0064", "categoryId": 9007199254740993.0,"name":"Rex" }',
        withKey('"k"'),
      ),
  },
  {
    id: 'placeOrder',
    table: 'orders',
    send: () => store.placeOrder('{"petId":9007199254740993}', withKey('k')),
    retry: () => store.placeOrder('{ "petId": 9007199254740993.0 }', withKey('"k"')),
  },
];
/** The new id, of a pet or an order, is no double, either. */
async function insertRows() {
  await store.insertPet({ id: 2n ** 53n + 1n, status: 'available' });
  await store.insertPet({ id: 2n ** 53n + 2n });
  await store.insertOrder({ id: 2n ** 53n, pet_id: 7 });
}

test.each(CREATES)(
  'a retry of $id gets the first answer, in other words too, and after its row is gone',
  async ({ send, retry }) => {
    await insertRows();
    const first = await send();
    expectFirst(first);
    await store.exec('DELETE FROM pets; DELETE FROM orders');
    expectReplay(await store.expectUnchanged(retry), first);
  },
);

// https://developers.cloudflare.com/d1/best-practices/retry-queries/
const FAULTS: [d1: Fault[], retries: number, replayed: string | null][] = [
  [['throws', 'throws'], 2, null],
  [['loses the response'], 1, 'true'],
  [['runs late', 'runs late'], 2, null],
];

test.each(CREATES.flatMap((create) => FAULTS.map((faults) => [create, ...faults] as const)))(
  '%j takes effect once, although D1 %j',
  async ({ send, table }, d1, retries, replayed) => {
    await insertRows();
    const count = (await store.rows(table)).length;
    await store.fault({ d1 });
    const reply = await send();
    expect([reply.status, reply.headers.get('idempotency-replayed')]).toEqual([201, replayed]);
    expect((await store.logLines()).at(-1)).toMatchObject({ status: 201, d1Retries: retries });
    const { pathname } = new URL(reply.headers.get('location') ?? '');
    expect(exact(await store.fetch(pathname))).toEqual(exact(reply));
    expect(await store.rows(table)).toHaveLength(count + 1);
  },
);

const createPet = operations.find(({ operationId }) => operationId === 'createPet');

test.each<[d1: Fault[], replayed: string | null]>([
  [['throws', 'throws', 'throws'], null],
  // The record cannot be read.
  [['loses the response', 'works', 'throws'], 'true'],
])('a create with a key that fails says that a retry is safe: %j', async (d1, replayed) => {
  await store.fault({ d1 });
  const message =
    'The database did not respond. It is unknown whether the request was carried out. ' +
    'Retry with the same Idempotency-Key: it is carried out at most once.';
  expectError(await store.createPet(REX, withKey('k')), 503, 'service_unavailable', message);
  expect(JSON.stringify(createPet?.operation.responses[503])).toContain(message);
  expect((await store.calls()).d1).toBe(3);
  const { headers } = await store.createPet(REX, withKey('k'));
  expect(headers.get('idempotency-replayed')).toBe(replayed);
});

// The id of an API key and an idempotency key can be any text.
test.each(['', ',', ':', '|'])(
  'two clients whose id, operation and key are one text when joined by "%s" share no key',
  async (by) => {
    const first = { key: await store.issueKey({ id: 'a' }), ...withKey(`createPet${by}k`) };
    const second = { key: await store.issueKey({ id: `a${by}createPet` }), ...withKey('k') };
    expectFirst(await store.createPet(REX, first));
    expectFirst(await store.createPet(REX, second));
  },
);

test('a rotated API key is still the same client, and another one is not', async () => {
  const createAs = async (record: object) =>
    store.createPet(REX, { key: await store.issueKey(record), ...withKey('k') });
  const first = await createAs({ id: 'key_1' });
  expectReplay(await createAs({ id: 'key_2', family: 'key_1' }), first);
  expectFirst(await createAs({ id: 'key_3' }));
});

test('two operations share no key, and inner quotes are a part of a key', async () => {
  await insertRows();
  for (const { send } of CREATES) expectFirst(await send());
  for (const key of ['"k"k', 'kk', 'k"k']) expectFirst(await store.createPet(REX, withKey(key)));
});

test.each([
  '{"name":"Rex","categoryId":9007199254740993}',
  '{"name":"Rex","categoryId":9007199254740992,"status":"sold"}',
  '{"name":"rex","categoryId":9007199254740993,"status":"sold"}',
])('the body %s is another one: a 422', async (other) => {
  await CREATES[0]?.send();
  const reply = await store.expectUnchanged(() => store.createPet(other, withKey('k')));
  const message =
    'This Idempotency-Key was used with another path or body within the last 24 hours.';
  expectError(reply, 422, 'idempotency_key_reused', message);
});
