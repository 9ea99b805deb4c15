/** The differences from plain Hono in README.md and docs/decisions.md: each is sent to both workers. */
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { app } from '../src/app.ts';
import { startStore } from '../test/support/store.ts';
import { type Call, headersOf, stubBindings, stubLimiters } from '../test/support/stubs.ts';
import { observe } from './observe.ts';
import { plainHono } from './workers/plain-hono.ts';

const LARGE = 2n ** 53n + 1n;
const UNAVAILABLE = {
  status: 503,
  retryAfter: '5',
  text: expect.stringContaining('It is unknown whether'),
};
const NO_ANSWER = { status: 'no answer' };

const WORKERS = [
  {
    name: 'the store',
    worker: app,
    pets: 1,
    large: { created: 201, read: LARGE },
    withoutKv: 200,
    d1Fails: UNAVAILABLE,
    d1Hangs: UNAVAILABLE,
  },
  {
    name: 'plain Hono',
    worker: plainHono,
    pets: 2,
    large: { created: 400, read: LARGE - 1n },
    withoutKv: 500,
    d1Fails: { status: 500 },
    d1Hangs: NO_ANSWER,
  },
];

const LIST = { path: '/v1/pets' };
const PET = '{"name":"Rex","categoryId":3}';
const CREATE = { ...LIST, method: 'POST', body: PET, headers: { 'idempotency-key': 'k' } };

const store = startStore();
const fail = () => {
  throw new Error('Network connection lost.');
};

describe.each(WORKERS)('$name', ({ worker, ...expected }) => {
  let key: string;
  beforeEach(async () => {
    key = await store.issueKey();
    vi.spyOn(console, 'log').mockReturnValue();
    vi.spyOn(console, 'error').mockReturnValue();
    return () => vi.useRealTimers().restoreAllMocks();
  });

  /** Sends a request, with the real D1 and KV or a broken one. */
  async function send(call: Call, broken = {}) {
    const env = { ...(await store.bindings()), ...stubLimiters, ...broken };
    const init = { ...call, headers: headersOf(call, key) };
    const response = await worker.request(call.path, init, env);
    const retryAfter = response.headers.get('retry-after');
    return { status: response.status, text: await response.text(), retryAfter };
  }

  test('D1 carries a create out, but its answer is lost; then two retries succeed', async () => {
    const { DB } = await store.bindings();
    await send(CREATE, { DB: observe(DB, fail) });
    const retry = await send(CREATE);
    expect(retry.status).toBe(201);
    expect(await send(CREATE)).toEqual(retry);
    expect(await DB.prepare('SELECT id FROM pets').raw()).toHaveLength(expected.pets);
  });

  test('an animal has an int64 beyond 2^53', async () => {
    await store.exec(`INSERT INTO pets (id, name, category_id) VALUES (1, 'Rex', ${LARGE})`);
    const { text } = await send({ path: '/v1/pets/1' });
    expect(text).toContain(`"categoryId":${expected.large.read}`);
    const { status } = await send({ ...CREATE, body: PET.replace('3', `${LARGE}`) });
    expect(status).toBe(expected.large.created);
  });

  test('KV fails, most of an hour after the key was read', async () => {
    expect(await send(LIST)).toMatchObject({ status: 200 });
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_500_000 });
    const { status } = await send(LIST, { API_KEYS: { get: fail } });
    expect(status).toBe(expected.withoutKv);
  });

  test('D1 fails', async () => {
    const { DB } = stubBindings(fail);
    expect(await send(CREATE, { DB })).toMatchObject(expected.d1Fails);
  });

  test('D1 hangs for an hour', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const reached = Promise.withResolvers<void>();
    const { DB } = stubBindings(() => {
      reached.resolve();
      return new Promise(() => {});
    });
    const reply = send(CREATE, { DB });
    await reached.promise;
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(await Promise.race([reply, NO_ANSWER])).toMatchObject(expected.d1Hangs);
  });
});
