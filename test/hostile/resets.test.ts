/** Clients that disconnect: their requests are completed and logged once, and do not extend the validity of a key. */
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Binding } from './backend.ts';
import { answerOn, bytesOf, creating, send, write } from './client.ts';
import { startServer } from './server.ts';

const server = startServer();

const CLIENTS = 20;
const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });

const createWith = (key: string) => bytesOf(creating(key, BODY));

/** The request without the second half of its body. */
const halfOf = (request: Buffer) => request.subarray(0, -BODY.length / 2);

/** Sends a create from each of `count` clients, each with a new key. */
async function sendCreates(count: number, shape = (request: Buffer) => request) {
  const keys = await Promise.all(Array.from({ length: count }, () => server.issueKey()));
  return Promise.all(keys.map((key) => write(server.port(), shape(createWith(key)))));
}

async function expectEveryRequestLogged() {
  const missing = async () => (await server.report()).requests - (await server.logLines()).length;
  await expect.poll(missing).toBe(0);
  expect((await server.report()).requests).toBeGreaterThan(0);
  const lines = await server.logLines();
  expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(lines.length);
  const { pets } = await server.report();
  expect(lines.filter(({ status }) => status === 201)).toHaveLength(pets);
  return lines;
}

test.each<Binding>(['kv', 'limiter', 'd1'])(
  'requests whose clients reset while %s answers are finished and logged once',
  async (binding) => {
    await server.set({ delays: { [binding]: 'held' } });
    const sockets = await sendCreates(CLIENTS);
    await server.until(({ waiting }) => waiting[binding] >= CLIENTS);
    for (const socket of sockets) socket.resetAndDestroy();
    // The worker sees the resets before its bindings return.
    await pause(50);
    await server.set({ release: true });
    expect(await expectEveryRequestLogged()).toHaveLength(CLIENTS);
  },
);

test('requests that fail after their clients reset are logged with the error', async () => {
  await server.set({ delays: { kv: 'held' }, failing: ['kv'] });
  const sockets = await sendCreates(CLIENTS);
  await server.until(({ waiting }) => waiting.kv === CLIENTS);
  for (const socket of sockets) socket.resetAndDestroy();
  await pause(50);
  await server.set({ release: true });
  const lines = await expectEveryRequestLogged();
  expect(lines.map(({ status }) => status)).toEqual(Array(CLIENTS).fill(503));
});

test('requests whose clients reset at once are logged once', async () => {
  await server.set({ delays: { kv: 5, limiter: 5, d1: 5 } });
  const keys = await Promise.all(Array.from({ length: 50 }, () => server.issueKey()));
  for (const [i, key] of keys.entries()) {
    const socket = await write(server.port(), createWith(key));
    await pause(i % 20);
    socket.resetAndDestroy();
  }
  await expectEveryRequestLogged();
});

test.each<[string, (socket: Socket) => void]>([
  ['resets', (socket) => socket.resetAndDestroy()],
  ['closes', (socket) => socket.end()],
])(
  'a client that %s in the middle of its body is logged as a 400, and adds no animal',
  async (_, end) => {
    const sockets = await sendCreates(CLIENTS, halfOf);
    // The body is read after the limiter calls.
    await server.until(({ limits }) => limits.RATE_LIMITER === CLIENTS);
    await pause(50);
    for (const socket of sockets) end(socket);
    const lines = await expectEveryRequestLogged();
    expect(lines.map(({ status }) => status)).toEqual(Array(CLIENTS).fill(400));
    expect(await server.report()).toMatchObject({ pets: 0, requests: CLIENTS });
  },
);

test('a client that stops sending in the middle of its body gets a 400, which is logged', async () => {
  const key = await server.issueKey();
  expect((await send(server.port(), { headers: { Authorization: `Bearer ${key}` } })).status).toBe(
    200,
  );
  // Ten minutes pass in the twenty seconds.
  await server.set({ speed: 30 });
  const socket = await write(server.port(), halfOf(createWith(key)));
  const isAnswered = once(socket, 'readable').then(() => true);
  const answered = await Promise.race([isAnswered, pause(20_000, false)]);
  expect(answered).toBe(true);
  expect((await answerOn(socket)).status).toBe(400);
  const lines = await expectEveryRequestLogged();
  expect(lines.map(({ status }) => status)).toEqual([200, 400]);
  expect(await server.report()).toMatchObject({ pets: 0 });
});

test('a revoked key is rejected after two minutes, even if its client resets during every read of KV', async () => {
  const key = await server.issueKey({ id: 'leaked' });
  const list = bytesOf({ headers: { Authorization: `Bearer ${key}` } });
  expect((await answerOn(await write(server.port(), list))).status).toBe(200);
  await server.issueKey({ id: 'leaked', revokedAt: '2026-11-20T00:00:00Z' }, key);

  const answers: [second: number, status: number, text: string][] = [];
  for (let second = 1; second <= 150; second += 1) {
    await server.set({ advance: 1_000, delays: { kv: 'held' } });
    const socket = await write(server.port(), list);
    let isAnswered = false;
    const answer = answerOn(socket).finally(() => {
      isAnswered = true;
    });
    answer.catch(() => {});
    await server.until(({ waiting }) => isAnswered || waiting.kv > 0);
    if (!isAnswered) {
      socket.resetAndDestroy();
      await server.report();
      await server.set({ release: true });
      continue;
    }
    const { status, text } = await answer;
    answers.push([second, status, text]);
  }
  const accepted = answers.filter(([, status]) => status === 200);
  const rejected = answers.filter(([, status]) => status !== 200);
  expect(accepted.filter(([second]) => second > 120)).toEqual([]);
  expect(rejected).not.toEqual([]);
  for (const [, , text] of rejected) {
    expect(JSON.parse(text)).toMatchObject({ status: 401, code: 'revoked_api_key' });
  }
});

test('a late read of KV does not restore a revoked key', async () => {
  const key = await server.issueKey({ id: 'late' });
  const list = () => send(server.port(), { headers: { Authorization: `Bearer ${key}` } });
  // The first read finds the key active, and returns after the test has let it.
  await server.set({ delays: { kv: 'held' }, speed: 30 });
  expect((await list()).status).toBe(503);
  // A later read finds it revoked, and returns at once.
  await server.issueKey({ id: 'late', revokedAt: '2026-11-20T00:00:00Z' }, key);
  await server.set({ delays: {}, speed: 1 });
  expect((await list()).status).toBe(401);
  expect(await server.report()).toMatchObject({ waiting: { kv: 1 } });
  await server.set({ release: true });
  await server.until(({ waiting }) => waiting.kv === 0);
  expect((await list()).status).toBe(401);
});

test('concurrent requests with one key share one read of KV', async () => {
  const headers = { Authorization: `Bearer ${await server.issueKey()}` };
  await server.set({ delays: { kv: 'held' } });
  const answers = Array.from({ length: CLIENTS }, () => send(server.port(), { headers }));
  await server.until(({ requests, waiting }) => requests === CLIENTS && waiting.kv > 0);
  await server.set({ release: true });
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  expect(await server.report()).toMatchObject({ kvReads: 1 });
});
