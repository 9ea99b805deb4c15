/** `Idempotency-Key` of createPet and placeOrder. */
import { beforeEach, describe, expect, test } from 'vitest';
import {
  contents,
  deletePet,
  expectError,
  expectUnchanged,
  insertPets,
  updatePet,
} from '../orders/steps.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore();

/** The animals that are ordered: 1 and 2. */
beforeEach(() => insertPets(store, 'available', 'available'));

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** Sends a create with an idempotency key. */
type Send = (key: string, body?: string) => Promise<Reply>;

const headersOf = (key: string) => ({ headers: { 'idempotency-key': key } });
const create: Send = (key, body = '{"name":"Rex","categoryId":3}') =>
  store.create(body, headersOf(key));
const order: Send = (key, body = '{"petId":1}') => store.placeOrder(body, headersOf(key));

function expectFirst({ status, headers }: Reply): void {
  expect([status, headers.has('idempotency-replayed')]).toEqual([201, false]);
}

function expectReplay(reply: Reply, first: Reply): void {
  expect([reply.status, reply.text]).toEqual([201, first.text]);
  expect(reply.headers.get('location')).toBe(first.headers.get('location'));
  expect(reply.headers.get('idempotency-replayed')).toBe('true');
}

async function expectReused(send: () => Promise<Reply>): Promise<void> {
  const message = 'This Idempotency-Key was used with another body within the last 24 hours.';
  expectError(await expectUnchanged(store, send), 422, 'idempotency_key_reused', message);
}

/** Makes the records older. */
const age = (ms: number) =>
  store.exec(`UPDATE idempotency_keys SET created_at = created_at - ${ms}`);

describe.each<[name: string, Send, same: string, other: string]>([
  [
    'createPet',
    create,
    '{ "categoryId" : 30e-1, "name" : "\\u0052ex" }',
    '{"name":"rex","categoryId":3}',
  ],
  ['placeOrder', order, '{ "pet\\u0049d" : 10e-1 }', '{"petId":2}'],
])('%s', (_, send, same, other) => {
  test('a retry gets the first response byte for byte, however it is written', async () => {
    const first = await send('k');
    expectFirst(first);
    expectReplay(await expectUnchanged(store, () => send('k')), first);
    expectReplay(await expectUnchanged(store, () => send('"k"', same)), first);
  });

  test('a key with another body is a 422 for 24 hours, and then unused again', async () => {
    const first = await send('k');
    await age(DAY - MINUTE);
    await expectReused(() => send('k', other));
    expectReplay(await send('k'), first);
    await age(MINUTE);
    const later = await send('k', other);
    expectFirst(later);
    expectReplay(await send('k', other), later);
  });

  test('of fifty concurrent requests with one key, one is carried out', async () => {
    const before = await contents(store);
    const replies = await Promise.all(Array.from({ length: 50 }, () => send('k')));
    const first = replies.filter(({ headers }) => !headers.has('idempotency-replayed'));
    expect(first).toMatchObject([{ status: 201 }]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    // The new row and its record.
    expect(await contents(store)).toHaveLength(before.length + 2);
  });
});

test('a rotated API key is still the same client, and another one is not', async () => {
  const createAs = async (record: object) => {
    const authorization = `Bearer ${await store.issueKey(record)}`;
    const headers = { authorization, 'idempotency-key': 'k' };
    return store.create({ name: 'Rex', categoryId: 3 }, { headers });
  };
  const first = await createAs({ id: 'key_1' });
  expectReplay(await createAs({ id: 'key_2', family: 'key_1' }), first);
  expectFirst(await createAs({ id: 'key_3' }));
});

test('a refused order is not recorded, and succeeds later', async () => {
  await store.exec("UPDATE pets SET status = 'sold'");
  expect((await expectUnchanged(store, () => order('k'))).status).toBe(409);
  await store.exec("UPDATE pets SET status = 'available'");
  expectFirst(await order('k'));
});

test('every field and every digit of the body counts', async () => {
  await create('k', '{"name":"Rex","categoryId":9007199254740993,"status":"sold"}');
  await expectReused(() => create('k', '{"name":"Rex","categoryId":9007199254740993}'));
  await expectReused(() =>
    create('k', '{"name":"Rex","categoryId":9007199254740992,"status":"sold"}'),
  );
});

test('createPet and placeOrder do not share a key', async () => {
  await create('k');
  expectFirst(await order('k'));
});

test('a replay is the first response, even if its animal was changed and deleted', async () => {
  const created = await create('k');
  await updatePet(store, 3, { name: 'Tom' });
  await deletePet(store, 3);
  expectReplay(await expectUnchanged(store, () => create('k')), created);
});

test('an operation that is not a create ignores Idempotency-Key', async () => {
  const reply = await store.send('PATCH', '/v1/pets/1', { name: 'Tom' }, headersOf('é'));
  expect(reply.status).toBe(200);
});
