import { beforeEach, describe, expect, test } from 'vitest';
import { type Answer, createClient } from '../../../ops/release/client.ts';
import { probe } from '../../../ops/release/probes.ts';
import { type SmokeTest, smokeTest } from '../../../ops/release/smoke.ts';
import type { Added } from '../../../ops/release/smoke-writes.ts';
import { startStore } from '../../store.ts';

const store = startStore();
let subject: SmokeTest;

beforeEach(async () => {
  subject = {
    client: createClient({ origin: store.url() }),
    apiKey: await store.issueKey(),
    baseUrl: `${store.url()}/v1`,
    environment: 'local',
  };
});

/** The smoke test of a store that answers as the real one, but for what the test changes. */
function spoiled(spoil: (path: string, answer: Answer) => Answer): SmokeTest {
  const { client } = subject;
  return {
    ...subject,
    client: { send: async (path, init) => spoil(path, await client.send(path, init)) },
  };
}

/** Headers without one of them. */
function without(name: string, headers: Headers): Headers {
  const left = new Headers(headers);
  left.delete(name);
  return left;
}

/** Removes everything, and notes what it was asked to remove. */
function removal() {
  const removed: Added[] = [];
  const remove = async (added: Added) => {
    removed.push(added);
    const { DB } = await store.bindings();
    await DB.exec('DELETE FROM orders; DELETE FROM pets; DELETE FROM idempotency_keys');
  };
  return { remove, removed };
}

/** A smoke test that counts the requests that it sends by method. */
function counted(): { test: SmokeTest; methods: Record<string, number> } {
  const methods: Record<string, number> = {};
  const { client } = subject;
  const send: typeof client.send = (path, init) => {
    const method = init?.method ?? 'GET';
    methods[method] = (methods[method] ?? 0) + 1;
    return client.send(path, init);
  };
  return { test: { ...subject, client: { send } }, methods };
}

test('passes on an empty store, and only reads', async () => {
  const checks = await smokeTest(subject);
  expect(checks).toContainEqual({
    check: '/v1/pets has pages',
    result: 'no items, no next page',
  });
  expect(checks).toContainEqual({ check: 'one order is fetched', result: 'status 404' });
  expect((await store.fetch('/v1/pets')).body).toEqual([]);
  expect((await store.fetch('/v1/store/orders')).body).toEqual([]);
});

test('reads with a key that can only read, which it proves; a key that can write reads as well', async () => {
  await store.create({ name: 'Rex', categoryId: 1, status: 'available' });
  const apiKey = await store.issueKey({ scopes: ['read'] });
  const { test: readOnly, methods } = counted();
  const check = 'a wrong animal is refused';
  expect(await smokeTest({ ...readOnly, apiKey })).toContainEqual({
    check,
    result: 'insufficient_scope: the key cannot write',
  });
  expect(methods).toEqual({ GET: expect.any(Number), POST: 1 });
  expect(await smokeTest(subject)).toContainEqual({ check, result: 'invalid_request' });
});

test('where it writes, a key that can only read is not enough', async () => {
  const apiKey = await store.issueKey({ scopes: ['read'] });
  await expect(smokeTest({ ...subject, apiKey, ...removal() })).rejects.toThrow(
    'a wrong animal is refused: status is 403, not 400',
  );
});

test('adds, orders and deletes two animals, sees the ids exactly, and tells what it added', async () => {
  await store.create({ name: 'Rex', categoryId: 1 });
  const { DB } = await store.bindings();
  const id = '9007199254740995';
  await DB.prepare('UPDATE sqlite_sequence SET seq = CAST(? AS INTEGER) - 1').bind(id).run();
  const { remove, removed } = removal();
  const checks = await smokeTest({ ...subject, remove });
  expect(removed.map(({ petIds, orderIds }) => [petIds, orderIds].map(String))).toEqual([
    [`${id},9007199254740996`, '1,2'],
  ]);
  expect(removed[0]?.writes).toHaveLength(7);
  expect(checks).toContainEqual({
    check: 'an order is approved and delivered',
    result: 'the animal is sold',
  });
  expect(checks).toContainEqual({ check: 'animals are deleted', result: '2 animals' });
  expect(checks.at(-1)).toEqual({
    check: 'what was added is removed',
    result: '2 animals, 2 orders',
  });
});

test('of a version that has no orders, nothing of orders is asked', async () => {
  const unknown = /\/v1\/store/;
  const asked: string[] = [];
  const test = spoiled((path, answer) => {
    asked.push(path);
    return path === '/v1/openapi.json'
      ? { ...answer, body: { openapi: '3.1.1', paths: { '/pets': {} } } }
      : answer;
  });
  const checks = await smokeTest({ ...test, ...removal() });
  expect(asked.filter((path) => unknown.test(path))).toEqual([]);
  expect(checks.at(-1)?.result).toBe('2 animals, 0 orders');
});

describe('fails', () => {
  const pet = { id: 1n, name: 'Rex', categoryId: 1n };
  test.each<[string, string, (answer: Answer) => Partial<Answer>]>([
    ['health: status is 503, not 200', '/health', () => ({ status: 503 })],
    ['no key is a 401: status is 500', '/v1/pets', () => ({ status: 500 })],
    [
      '/v1/pets has pages: Cache-Control is null',
      '/v1/pets?limit=1',
      ({ headers }) => ({ headers: without('cache-control', headers) }),
    ],
    [
      '/v1/pets has pages: the body is not such a list',
      '/v1/pets?limit=1',
      () => ({ body: [{ ...pet, id: 1.5 }] }),
    ],
    [
      '/v1/pets is filtered: status is missing, not "sold"',
      '/v1/pets?status=sold&limit=5',
      () => ({ body: [pet] }),
    ],
    [
      '/v1/pets is filtered: no more than the limit is false',
      '/v1/pets?status=sold&limit=5',
      () => ({ body: Array(6).fill({ ...pet, status: 'sold' }) }),
    ],
    [
      'one animal is fetched, and that is deprecated: Sunset',
      '/v1/pets/-9223372036854775808',
      ({ headers }) => ({ headers: without('sunset', headers) }),
    ],
    [
      '/v1/store/orders has pages: the body is not such a list',
      '/v1/store/orders?limit=1',
      () => ({ body: [{ id: 1n, petId: 1n, status: 'shipped' }] }),
    ],
    [
      '/v1/store/orders is filtered: status is "placed", not "cancelled"',
      '/v1/store/orders?status=cancelled&limit=5',
      () => ({ body: [{ id: 1n, petId: 1n, status: 'placed', placedAt: '2026-11-20T00:00:00Z' }] }),
    ],
    [
      'one order is fetched: status is 500, not 404',
      '/v1/store/orders/-9223372036854775808',
      () => ({ status: 500 }),
    ],
    ['the description is served: status is 404', '/v1/openapi.json', () => ({ status: 404 })],
  ])('%s', async (problem, path, spoil) => {
    const test = spoiled((asked, answer) =>
      asked === path ? { ...answer, ...spoil(answer) } : answer,
    );
    await expect(smokeTest(test)).rejects.toThrow(`smoke test, ${problem}`);
  });

  test('when the wrong version answers, or a wrong environment', async () => {
    await expect(smokeTest({ ...subject, version: 'other' })).rejects.toThrow('health: version is');
    await expect(smokeTest({ ...subject, environment: 'staging' })).rejects.toThrow(
      'health: environment is "local", not "staging"',
    );
  });

  test('when links lead elsewhere', async () => {
    await store.create({ name: 'Rex', categoryId: 1 });
    await store.create({ name: 'Max', categoryId: 1 });
    await expect(smokeTest({ ...subject, baseUrl: 'https://x.test/v1' })).rejects.toThrow(
      'the address of the next page is "http',
    );
  });

  test('when a create is not done once: and still removes what it added', async () => {
    const { remove, removed } = removal();
    const test = spoiled((_, answer) => ({
      ...answer,
      headers: without('idempotency-replayed', answer.headers),
    }));
    await expect(smokeTest({ ...test, remove })).rejects.toThrow('Idempotency-Replayed is null');
    expect(removed.map(({ petIds }) => petIds.length)).toEqual([1]);
  });

  test('when the answer of a create is lost: its key is among what is to be removed', async () => {
    const { remove, removed } = removal();
    const test = spoiled((path, answer) => {
      if (path === '/v1/store/orders') throw new Error('lost');
      return answer;
    });
    await expect(smokeTest({ ...test, remove })).rejects.toThrow(
      'an order is placed once, however often it is sent: lost',
    );
    expect(removed.map(({ orderKeys, orderIds }) => [orderKeys.length, orderIds])).toEqual([
      [1, []],
    ]);
  });

  test('when what an order makes of its animal is wrong', async () => {
    const { DB } = await store.bindings();
    const { client } = subject;
    const send: typeof client.send = async (path, init) => {
      const answer = await client.send(path, init);
      if (init?.body?.includes('delivered')) {
        await DB.prepare("UPDATE pets SET status = 'pending'").run();
      }
      return answer;
    };
    await expect(
      smokeTest({ ...subject, client: { send }, remove: removal().remove }),
    ).rejects.toThrow(
      'an order is approved and delivered: status in the body is "pending", not "sold"',
    );
  });

  test('when an animal with an open order is deleted', async () => {
    const test = spoiled((path, answer) =>
      path.startsWith('/v1/pets/') && answer.status === 409 ? { ...answer, status: 204 } : answer,
    );
    await expect(smokeTest({ ...test, remove: removal().remove })).rejects.toThrow(
      'an animal has one open order, and is not deleted: status is 204, not 409',
    );
  });

  test('when what was added is still there', async () => {
    await expect(smokeTest({ ...subject, remove: async () => {} })).rejects.toThrow(
      /what was added is removed: \/v1\/store\/orders\/1, of Smoke test \S+, is still there/,
    );
  });

  test('when nobody answers, in words', async () => {
    const client = createClient({ origin: 'http://127.0.0.1:1' });
    await expect(smokeTest({ ...subject, client })).rejects.toThrow(
      'smoke test, health: GET http://127.0.0.1:1/health: ',
    );
  });
});

const goOn = new AbortController().signal;

test('probes are stopped by a signal, which is not taken for bad answers', async () => {
  const stop = AbortSignal.abort(new Error('interrupted: SIGINT'));
  const client = createClient({ origin: store.url(), signal: stop });
  await expect(probe(client, subject.apiKey, 'v', 10, stop)).rejects.toThrow('interrupted: SIGINT');
});

test('probes that nobody answers are bad', async () => {
  const client = createClient({ origin: 'http://127.0.0.1:1' });
  await expect(probe(client, subject.apiKey, 'v', 10, goOn)).rejects.toThrow(
    'too few answers: 100 from nobody of which 100 bad',
  );
});

test('answers are counted by version: bad ones, and too few', async () => {
  const { client } = spoiled((_, answer) => ({
    ...answer,
    status: answer.status === 200 ? 200 : 500,
  }));
  const { version } = (await store.fetch('/health')).body as { version: string };
  let asked = 0;
  const mixed = {
    async send(...args: Parameters<typeof client.send>) {
      const answer = await client.send(...args);
      if (args[0] !== '/health') return answer;
      asked += 1;
      const body = { status: 'ok', environment: 'local', version: 'other' };
      return asked % 2 === 0 ? { ...answer, body } : answer;
    },
  };
  await expect(probe(mixed, 'no key', version, 20, goOn)).rejects.toThrow('bad answers');
  await expect(probe(mixed, 'no key', 'absent', 20, goOn)).rejects.toThrow('too few answers');
});

test('probes count the answers by version, and one bad one in a hundred is borne', async () => {
  const { version } = (await store.fetch('/health')).body as { version: string };
  let lists = 0;
  const { client } = spoiled((path, answer) => {
    const isList = path.startsWith('/v1/pets');
    if (isList) lists += 1;
    return isList && lists === 7 ? { ...answer, status: 500 } : answer;
  });
  const bad = async (count: number) => {
    lists = 0;
    return (await probe(client, subject.apiKey, version, count, goOn))[version];
  };
  expect((await bad(100))?.answers).toBe(100);
  await expect(bad(50)).rejects.toThrow(/^bad answers: 50 from \S+ of which [1-9] bad$/);
});
