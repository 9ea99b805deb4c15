/** `Idempotency-Key` of createPet and placeOrder. */
import { beforeEach, describe, expect, test } from 'vitest';
import { contents, deletePet, expectError, expectUnchanged, updatePet } from '../orders/steps.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore();

beforeEach(() =>
  store.exec(
    "INSERT INTO pets (id, name, category_id, status) VALUES (1, 'Max', 3, 'available'), (2, 'Tom', 3, 'available')",
  ),
);

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const REPLAYED = 'idempotency-replayed';

const REX = { name: 'Rex', categoryId: 3, status: 'sold' };

/** A create with an idempotency key, sent with the suite's API key unless `authorization` is given. */
type Send = (key: string, body?: unknown, authorization?: string) => Promise<Reply>;
const headersOf = (key: string, authorization?: string) => ({
  headers: { 'idempotency-key': key, ...(authorization && { authorization }) },
});
const create: Send = (key, body = REX, authorization) =>
  store.create(body, headersOf(key, authorization));
const order: Send = (key, body = { petId: 1 }, authorization) =>
  store.placeOrder(body, headersOf(key, authorization));

const newClient = async (record = {}) => `Bearer ${await store.issueKey(record)}`;

function expectFirst({ status, headers }: Reply): void {
  expect([status, headers.has(REPLAYED)]).toEqual([201, false]);
}

function expectReplay(reply: Reply, first: Reply): void {
  expect([reply.status, reply.text]).toEqual([201, first.text]);
  expect(reply.headers.get('location')).toBe(first.headers.get('location'));
  expect(reply.headers.get(REPLAYED)).toBe('true');
}

/** Makes the records older. */
const age = (ms: number) =>
  store.exec(`UPDATE idempotency_keys SET created_at = created_at - ${ms}`);

describe.each<[name: string, Send, same: string, other: unknown]>([
  [
    'createPet',
    create,
    '{ "status":"sold", "categoryId" : 30e-1, "name" : "\\u0052ex" }',
    { ...REX, name: 'rex' },
  ],
  ['placeOrder', order, '{ "pet\\u0049d" : 10e-1 }', { petId: 2 }],
])('%s', (_, send, same, other) => {
  test('a retry gets the first response byte for byte, and writes nothing', async () => {
    const first = await send('k');
    expectFirst(first);
    expectReplay(await expectUnchanged(store, () => send('k')), first);
  });

  test('the same fields, written in another way and order, are the same body', async () => {
    const first = await send('k');
    expectReplay(await expectUnchanged(store, () => send('k', same)), first);
  });

  test('another body is a 422, and writes nothing', async () => {
    await send('k');
    const reply = await expectUnchanged(store, () => send('k', other));
    const message = 'This Idempotency-Key was used with another body within the last 24 hours.';
    expectError(reply, 422, 'idempotency_key_reused', message);
    expect(reply.headers.has('location')).toBe(false);
  });

  test('of fifty concurrent requests with one key, one is carried out', async () => {
    const before = JSON.parse(await contents(store)).flat();
    const replies = await Promise.all(Array.from({ length: 50 }, () => send('k')));
    const [first, ...others] = replies.filter(({ headers }) => !headers.has(REPLAYED));
    expect([first?.status, others]).toEqual([201, []]);
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    // The new row and its record.
    expect(JSON.parse(await contents(store)).flat()).toHaveLength(before.length + 2);
  });

  test('another client may use the same key', async () => {
    await send('k');
    expectFirst(await send('k', other, await newClient()));
  });

  test('a client stays the same when its API key is rotated', async () => {
    const first = await send('k', undefined, await newClient({ id: 'key_1' }));
    const rotated = await newClient({ id: 'key_2', family: 'key_1' });
    expectReplay(await send('k', undefined, rotated), first);
  });

  test('a key is still valid after 23:59 hours', async () => {
    const first = await send('k');
    await age(24 * HOUR - MINUTE);
    expectReplay(await send('k'), first);
  });

  test('a key is unused again after 24 hours, even if its record remains', async () => {
    await send('k');
    await age(24 * HOUR);
    const later = await send('k', other);
    expectFirst(later);
    expectReplay(await send('k', other), later);
  });

  test('a refused request is not recorded, and succeeds later', async () => {
    await store.exec("UPDATE pets SET status = 'sold'");
    const refused = send === order ? undefined : { name: 'Rex' };
    const reply = await expectUnchanged(store, () => send('k', refused));
    expect(reply.status).toBe(send === order ? 409 : 400);
    await store.exec("UPDATE pets SET status = 'available'");
    expectFirst(await send('k'));
  });
});

// The runtime joins repeated headers, as in the last of these.
test.each(['""', 'x'.repeat(256), 'k, k'])('the key %j is a 400', async (key) => {
  const reply = await expectUnchanged(store, () => create(key));
  const message = expect.stringMatching(/^Idempotency-Key: must be /);
  expectError(reply, 400, 'invalid_request', message);
});

const PRINTABLE = ' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';

test.each([
  ['k', '"k"'],
  [PRINTABLE, PRINTABLE],
  ['x'.repeat(255), `"${'x'.repeat(255)}"`],
])('the keys %j and %j are the same', async (key, same) => {
  const first = await create(key);
  expectFirst(first);
  expectReplay(await create(same), first);
});

test('every field of the body counts', async () => {
  await create('k');
  for (const change of [{ categoryId: 4 }, { status: 'pending' }, { status: undefined }]) {
    expect((await create('k', { ...REX, ...change })).status).toBe(422);
  }
});

test('createPet and placeOrder do not share a key', async () => {
  const [created, placed] = [await create('k'), await order('k')];
  expectFirst(placed);
  expectReplay(await create('k'), created);
  expectReplay(await order('k'), placed);
});

/** As doubles, these two are the same number. */
const [EVEN, ODD] = ['9007199254740992', '9007199254740993'];

test('bodies whose integers differ only beyond 2^53 are not the same', async () => {
  await create('k', `{"name":"Rex","categoryId":${ODD}}`);
  const reply = await expectUnchanged(store, () =>
    create('k', `{"name":"Rex","categoryId":${EVEN}}`),
  );
  expect(reply.body).toMatchObject({ status: 422, code: 'idempotency_key_reused' });
});

test('a replay has every digit of ids', async () => {
  await store.exec(
    `INSERT INTO pets (id, name, category_id, status) VALUES (${ODD}, 'Rex', 3, 'available');
     INSERT INTO orders (id, pet_id, status) VALUES (${EVEN}, 1, 'cancelled')`,
  );
  const first = await order('k', `{"petId":${ODD}}`);
  expect(first.text).toContain(`{"id":${ODD},"petId":${ODD},`);
  expectReplay(await order('k', `{"petId":${ODD}}`), first);
});

test('a replay is the first response, even if its animal was changed and deleted', async () => {
  const created = await create('k');
  const { id } = created.body as { id: number };
  await updatePet(store, id, { name: 'Tom', status: null });
  await deletePet(store, id);
  expectReplay(await expectUnchanged(store, () => create('k')), created);
});

test('an operation that is not a create ignores Idempotency-Key', async () => {
  const reply = await store.send('PATCH', '/v1/pets/1', { name: 'Tom' }, headersOf('é'));
  expect(reply.status).toBe(200);
});
