/** Clients that disconnect: their requests are completed and logged once, and do not extend the validity of a key. */
import type { Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { answerOn, bytesOf, creating, startWorker } from './direct.ts';
import type { Fault } from './fault.ts';
import type { Faults } from './worker.ts';

const worker = startWorker();

const CLIENTS = 20;
const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });
const REVOKED = { revokedAt: '2026-11-20T00:00:00Z' };

const createWith = (key: string) => bytesOf(creating(key, BODY));
const listWith = (key: string) => ({ headers: { Authorization: `Bearer ${key}` } });

/** The request without the second half of its body. */
const halfOf = (request: Buffer) => request.subarray(0, -BODY.length / 2);

/** Sends a create from each of CLIENTS, each with a new key. */
async function sendCreates(part = (request: Buffer) => request): Promise<Socket[]> {
  const keys = await Promise.all(Array.from({ length: CLIENTS }, () => worker.issueKey()));
  return Promise.all(keys.map((key) => worker.write(part(createWith(key)))));
}

/** Expects one log line for each request, with the status 201 for each animal that was added. */
async function expectEveryRequestLogged(): Promise<unknown[]> {
  const { requests } = await worker.calls();
  expect(requests).toBeGreaterThan(0);
  await expect.poll(() => worker.logLines().length).toBe(requests);
  const lines = worker.logLines();
  expect(new Set(lines.map(({ requestId }) => requestId)).size).toBe(requests);
  const statuses = lines.map(({ status }) => status);
  expect(statuses.filter((status) => status === 201)).toHaveLength((await worker.pets()) ?? 0);
  return statuses;
}

test.each<[binding: string, fault: Fault, faults: Faults, status: number]>([
  ['KV', 'is held', { kv: 'is held' }, 201],
  ['KV', 'is held, then throws', { kv: 'is held, then throws' }, 503],
  ['a rate limiter', 'is held', { limiters: 'is held' }, 201],
  ['D1', 'is held', { d1: Array(CLIENTS).fill('is held') }, 201],
])(
  'requests whose clients reset while %s %s are completed, and logged once',
  async (_, __, faults, status) => {
    await worker.fault(faults);
    const sockets = await sendCreates();
    await worker.until(({ held }) => held >= CLIENTS);
    for (const socket of sockets) socket.resetAndDestroy();
    // The worker sees the resets before its bindings return.
    await pause(50);
    await worker.fault({ release: true });
    expect(await expectEveryRequestLogged()).toEqual(Array(CLIENTS).fill(status));
  },
);

test('requests whose clients reset at once are logged once', async () => {
  for (let i = 0; i < 50; i += 1) {
    const socket = await worker.write(createWith(await worker.issueKey()));
    await pause(i % 10);
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
    await worker.fault({ streamsBodies: true });
    const sockets = await sendCreates(halfOf);
    // The body is read after the limiter calls.
    await worker.until(({ keyLimits }) => keyLimits === CLIENTS);
    await pause(50);
    for (const socket of sockets) end(socket);
    expect(await expectEveryRequestLogged()).toEqual(Array(CLIENTS).fill(400));
  },
);

test('a client that stops sending in the middle of its body gets a 400, which is logged', async () => {
  await worker.fault({ streamsBodies: true, clockRuns: true });
  const socket = await worker.write(halfOf(createWith(await worker.issueKey())));
  // The deadline of thirty seconds takes less than one, as the clock runs faster.
  const answer = await Promise.race([answerOn(socket), pause(60_000)]);
  expect(answer?.status).toBe(400);
  expect(await expectEveryRequestLogged()).toEqual([400]);
});

test('a revoked key is rejected after two minutes, even if its client resets during every read of KV', async () => {
  const key = await worker.issueKey({ id: 'leaked' });
  expect((await worker.send(listWith(key))).status).toBe(200);
  await worker.issueKey({ id: 'leaked', ...REVOKED }, key);

  const answers: { second: number; status: number }[] = [];
  for (let second = 5; second <= 150; second += 5) {
    await worker.fault({ ahead: second * 1_000, kv: 'is held' });
    const socket = await worker.write(bytesOf(listWith(key)));
    const answer = answerOn(socket).then(({ status }) => answers.push({ second, status }));
    const count = answers.length;
    await worker.until(({ held }) => held > 0 || answers.length > count);
    // Without a response, the request waits for KV.
    if (answers.length === count) socket.resetAndDestroy();
    await answer.catch(() => {});
    await worker.fault({ release: true });
  }
  const statusesAfter = (least: number) =>
    new Set(answers.filter(({ second }) => second > least).map(({ status }) => status));
  expect(statusesAfter(120)).toEqual(new Set([401]));
  expect(statusesAfter(0)).toEqual(new Set([200, 401]));
});

test('a late read of KV does not restore a revoked key', async () => {
  const key = await worker.issueKey({ id: 'late' });
  // The first read finds the key active, and returns after the test has let it.
  await worker.fault({ kv: 'is held past the deadline' });
  expect((await worker.send(listWith(key))).status).toBe(503);
  // A later read finds it revoked, and returns at once.
  await worker.issueKey({ id: 'late', ...REVOKED }, key);
  await worker.fault({ keepsHeld: true });
  expect((await worker.send(listWith(key))).status).toBe(401);
  await worker.fault({ release: true });
  expect((await worker.send(listWith(key))).status).toBe(401);
});
