import { request } from 'node:http';
import { expect, test } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { startStore } from '../store.ts';

const store = startStore({ faults: true });

const DAY = 86_400_000;
const REX = { name: 'Rex', categoryId: 3, status: 'sold' };

function create(key: string, body: unknown = REX, headers: Record<string, string> = {}) {
  return store.create(body, { headers: { 'idempotency-key': key, ...headers } });
}

async function petCount(): Promise<number> {
  const { DB } = await store.bindings();
  return (await DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n')) ?? -1;
}

test('a retry gets the first response, byte for byte, and adds nothing', async () => {
  const first = await create('k');
  expect(first.status).toBe(201);
  expect(first.headers.has('idempotency-replayed')).toBe(false);
  for (const _ of [1, 2]) {
    const again = await create('k');
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers.get('location')).toBe(first.headers.get('location'));
    expect(again.headers.get('idempotency-replayed')).toBe('true');
  }
  expect(await petCount()).toBe(1);
});

test('a retry gets the first response after the animal has changed', async () => {
  const first = await create('k');
  await (await store.bindings()).DB.exec('DELETE FROM pets');
  expect((await create('k')).text).toBe(first.text);
  expect(await petCount()).toBe(0);
});

test('a replay is exact for int64', async () => {
  const body = '{"name":"Rex","categoryId":-9223372036854775808}';
  const first = await create('k', body);
  expect(first.text).toContain('-9223372036854775808');
  expect((await create('k', body)).text).toBe(first.text);
});

test('equivalent bodies are the same', async () => {
  const first = await create('k', '{"name":"Rex","categoryId":3}');
  const again = await create('k', '{ "categoryId" : 30e-1, "name" : "\\u0052ex" }');
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
});

test.each([
  [{ ...REX, name: 'rex' }],
  [{ ...REX, categoryId: 4 }],
  [{ ...REX, status: 'pending' }],
  [{ name: 'Rex', categoryId: 3 }],
])('another body is a 422: %j', async (body) => {
  await create('k');
  const reply = await create('k', body);
  expect(reply.status).toBe(422);
  expect(reply.body).toEqual({
    code: 'idempotency_key_reused',
    message: expect.any(String),
    status: 422,
  });
  expect(reply.headers.has('location')).toBe(false);
  expect(await petCount()).toBe(1);
});

test('quotes around a key are ignored', async () => {
  const first = await create('"k"');
  expect((await create('k')).text).toBe(first.text);
  expect((await create('K')).text).not.toBe(first.text);
  expect(await petCount()).toBe(2);
});

test('idempotency keys of different clients are separate', async () => {
  const other = { authorization: `Bearer ${await store.issueKey()}` };
  const first = await create('k');
  const theirs = await create('k', REX, other);
  expect(theirs.text).not.toBe(first.text);
  expect(theirs.headers.has('idempotency-replayed')).toBe(false);
});

test('only a 201 is recorded', async () => {
  expect((await create('k', { name: 'Rex' })).status).toBe(400);
  expect((await create('k', REX, { authorization: `Bearer ${generateKey('local')}` })).status).toBe(
    401,
  );
  await store.fault({ d1: ['is full'] });
  expect((await create('k')).status).toBe(500);
  const reply = await create('k');
  expect([reply.status, reply.headers.has('idempotency-replayed')]).toEqual([201, false]);
});

test('a key expires after a day, even before its record is removed', async () => {
  const first = await create('k');
  await store.fault({ ahead: DAY - 60_000 });
  expect((await create('k')).text).toBe(first.text);
  await store.fault({ ahead: DAY + 60_000 });
  const second = await create('k', { ...REX, name: 'Max' });
  expect([second.status, second.headers.has('idempotency-replayed')]).toEqual([201, false]);
  expect(await petCount()).toBe(2);
});

test.each(['""', 'x'.repeat(256), 'é', 'a\tb'])('the key %j is malformed', async (key) => {
  const reply = await create(key);
  expect(reply.status).toBe(400);
  expect(reply.body).toMatchObject({
    code: 'invalid_request',
    message: 'Idempotency-Key: must be 1 to 255 printable ASCII characters',
  });
  expect(await petCount()).toBe(0);
});

test.each([' !"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~', 'x'.repeat(255), `"${'x'.repeat(255)}"`])(
  'the key %j is valid',
  async (key) => {
    const first = await create(key);
    expect(first.status).toBe(201);
    expect((await create(key)).text).toBe(first.text);
  },
);

test('idempotency keys remain valid after a rotation of the API key', async () => {
  const before = { authorization: `Bearer ${await store.issueKey({ id: 'key_1' })}` };
  const after = {
    authorization: `Bearer ${await store.issueKey({ id: 'key_2', family: 'key_1' })}`,
  };
  const first = await create('k', REX, before);
  const again = await create('k', REX, after);
  expect([again.text, again.headers.get('idempotency-replayed')]).toEqual([first.text, 'true']);
  expect(await petCount()).toBe(1);
});

test.each([[['']], [['k', 'l']], [['k', 'k']], [['"k"', '"l"']]])(
  'the empty or repeated header %j is a 400',
  async (values) => {
    const authorization = `Bearer ${await store.issueKey()}`;
    const status = await new Promise((resolve, reject) => {
      const headers = {
        authorization,
        'content-type': 'application/json',
        'idempotency-key': values,
      };
      request(`${store.url()}/v1/pets`, { method: 'POST', headers })
        .on('response', (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end(JSON.stringify(REX));
    });
    expect(status).toBe(400);
    expect(await petCount()).toBe(0);
  },
);

test('fifty concurrent creates with one key add one animal', async () => {
  const replies = await Promise.all(Array.from({ length: 50 }, () => create('k')));
  expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  const replayed = replies.filter(({ headers }) => headers.has('idempotency-replayed'));
  expect(replayed).toHaveLength(49);
  expect(await petCount()).toBe(1);
});
