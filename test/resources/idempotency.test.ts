/** `Idempotency-Key` of createPet and placeOrder. */
import { request } from 'node:http';
import { beforeEach, describe, expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { contents, deletePet, setStatus, updatePet } from '../orders/steps.ts';
import { type Reply, startStore } from '../store.ts';

const store = startStore();

beforeEach(() =>
  store.exec(
    "INSERT INTO pets VALUES (1, 'Max', 3, 'available'), (2, 'Tom', 3, 'available'), (3, 'Kim', 3, 'sold')",
  ),
);

const HOUR = 3_600_000;
const REPLAYED = 'idempotency-replayed';

type Client = { headers?: Record<string, string> };
const REX = { name: 'Rex', categoryId: 3, status: 'sold' };

const create = (key: string, body: unknown = REX, { headers }: Client = {}) =>
  store.create(body, { headers: { 'idempotency-key': key, ...headers } });
const order = (key: string, body: unknown = { petId: 1 }, { headers }: Client = {}) =>
  store.placeOrder(body, { headers: { 'idempotency-key': key, ...headers } });

/** A client with an API key of its own. */
async function clientWith(record: { id?: string; family?: string } = {}): Promise<Client> {
  return { headers: { authorization: `Bearer ${await store.issueKey(record)}` } };
}

function expectFirst({ status, headers }: Reply): void {
  expect([status, headers.has(REPLAYED)]).toEqual([201, false]);
}

function expectReplay(reply: Reply, first: Reply): void {
  expect([reply.status, reply.text]).toEqual([201, first.text]);
  expect(reply.headers.get('location')).toBe(first.headers.get('location'));
  expect(reply.headers.get(REPLAYED)).toBe('true');
}

/** Makes the records older. */
function age(ms: number): Promise<void> {
  return store.exec(`UPDATE idempotency_keys SET created_at = created_at - ${ms}`);
}

const OPERATIONS = [
  {
    ...{ operation: 'createPet', send: create },
    other: { ...REX, name: 'rex' },
    equivalent: '{ "status":"sold", "categoryId" : 30e-1, "name" : "\\u0052ex" }',
    invalid: { name: 'Rex' },
  },
  {
    ...{ operation: 'placeOrder', send: order },
    other: { petId: 2 },
    equivalent: '{ "pet\\u0049d" : 10e-1 }',
    invalid: { petId: null },
  },
];

const KEY = 'Idempotency-Key: must be 1 to 255 printable ASCII characters';
const JSON_BODY = { 'content-type': 'application/json' };

describe.each(OPERATIONS)('$operation', ({ send, other, equivalent, invalid }) => {
  test('a repeated request gets the first response, byte for byte, and writes nothing', async () => {
    const first = await send('k');
    expectFirst(first);
    const before = await contents(store);
    expectReplay(await send('k'), first);
    expectReplay(await send('k', equivalent), first);
    expect(await contents(store)).toBe(before);
  });

  test('another body is a 422, and writes nothing', async () => {
    await send('k');
    const before = await contents(store);
    const reply = await send('k', other);
    expect(reply.body).toEqual({
      code: 'idempotency_key_reused',
      message: 'This Idempotency-Key was used with another body within the last 24 hours.',
      status: 422,
    });
    expect([reply.status, reply.headers.has('location')]).toEqual([422, false]);
    expect(await contents(store)).toBe(before);
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

  test('another key is another request', async () => {
    expectFirst(await send('k'));
    expectFirst(await send('K', other));
  });

  test('another client is another request', async () => {
    expectFirst(await send('k'));
    expectFirst(await send('k', other, await clientWith()));
  });

  test('a client stays the same when its API key is rotated', async () => {
    const first = await send('k', undefined, await clientWith({ id: 'key_1' }));
    const rotated = await clientWith({ id: 'key_2', family: 'key_1' });
    expectReplay(await send('k', undefined, rotated), first);
  });

  test('a key is valid for a day, even if its record remains', async () => {
    const first = await send('k');
    await age(24 * HOUR - 60_000);
    expectReplay(await send('k'), first);
    await age(60_000);
    const later = await send('k', other);
    expectFirst(later);
    expectReplay(await send('k', other), later);
  });

  test('a refused request is not recorded', async () => {
    const before = await contents(store);
    const unknown = { headers: { authorization: `Bearer ${generateKey('local')}` } };
    expect((await send('k', invalid)).status).toBe(400);
    expect((await send('k', undefined, unknown)).status).toBe(401);
    expect(await contents(store)).toBe(before);
    expectFirst(await send('k'));
  });

  test('an invalid key is a 400 that writes nothing', async () => {
    const before = await contents(store);
    const reply = await send('é');
    expect(reply.body).toMatchObject({ code: 'invalid_request', message: KEY, status: 400 });
    expect(await contents(store)).toBe(before);
  });
});

test.each(['""', 'x'.repeat(256), 'a\tb'])('the key %j is a 400', async (key) => {
  expect((await create(key)).body).toMatchObject({ message: KEY, status: 400 });
});

test.each([[['']], [['k', 'k']], [['"k"', '"l"']]])('the header %j is a 400', async (values) => {
  const before = await contents(store);
  const { headers } = await clientWith();
  // fetch would leave out an empty header, and join repeated ones.
  const status = await new Promise((resolve, reject) => {
    request(`${store.url()}/v1/pets`, { method: 'POST' })
      .setHeaders(new Map(Object.entries({ ...headers, ...JSON_BODY, 'idempotency-key': values })))
      .on('response', (response) => resolve(response.resume().statusCode))
      .on('error', reject)
      .end(JSON.stringify(REX));
  });
  expect(status).toBe(400);
  expect(await contents(store)).toBe(before);
});

test.each([' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 'x'.repeat(255), `"${'x'.repeat(255)}"`])(
  'the key %j is valid',
  async (key) => {
    const first = await create(key);
    expectFirst(first);
    expectReplay(await create(key), first);
  },
);

test('quotes around a key are ignored', async () => {
  const first = await create('"k"');
  expectReplay(await create('k'), first);
});

test.each([{ categoryId: 4 }, { status: 'pending' }, { status: undefined }])(
  'an animal with %j is another body',
  async (change) => {
    await create('k');
    expect((await create('k', { ...REX, ...change })).status).toBe(422);
  },
);

test('createPet and placeOrder do not share a key', async () => {
  const [created, placed] = [await create('k'), await order('k')];
  expectFirst(placed);
  expectReplay(await create('k'), created);
  expectReplay(await order('k'), placed);
});

test('a replay has every digit of ids', async () => {
  await store.exec(
    "INSERT INTO pets VALUES (9007199254740993, 'Rex', 3, 'available'); INSERT INTO orders VALUES (9007199254740992, 1, 'cancelled', '')",
  );
  const first = await order('k', '{"petId":9007199254740993}');
  expect(first.text).toMatch(/^\{"id":9007199254740993,"petId":9007199254740993,/);
  expectReplay(await order('k', '{"petId":9007199254740993}'), first);
  const animal = '{"name":"Rex","categoryId":-9223372036854775808}';
  const created = await create('k', animal);
  expectReplay(await create('k', animal), created);
});

test('an animal that has changed or was deleted is replayed as it was created', async () => {
  const created = await create('k');
  const { id } = created.body as { id: number };
  await updatePet(store, id, { name: 'Tom', status: null });
  expectReplay(await create('k'), created);
  await deletePet(store, id);
  expectReplay(await create('k'), created);
  expect((await store.fetch(`/v1/pets/${id}`)).status).toBe(404);
});

test('an order that has changed, or whose animal was deleted, is replayed as it was placed', async () => {
  const placed = await order('k');
  const { id } = placed.body as { id: number };
  await setStatus(store, id, 'cancelled');
  expectReplay(await order('k'), placed);
  await deletePet(store, 1);
  expectReplay(await order('k'), placed);
  expect((await store.fetch(`/v1/store/orders/${id}`)).body).toMatchObject({ status: 'cancelled' });
});

test('an order that was refused is not recorded: its key stays unused, also for another animal', async () => {
  const before = await contents(store);
  expect((await order('k', { petId: 77 })).status).toBe(404);
  expect((await order('k', { petId: 3 })).status).toBe(409);
  expect(await contents(store)).toBe(before);
  expectFirst(await order('k'));
});
