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
  'requests whose clients reset while %s %s are completed and logged once',
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
])('a client that %s in the middle of its body is a 400 in the log', async (_, end) => {
  await worker.fault({ streamsBodies: true });
  const sockets = await sendCreates(halfOf);
  // The body is read after the limiter calls.
  await worker.until(({ keyLimits }) => keyLimits === CLIENTS);
  await pause(50);
  for (const socket of sockets) end(socket);
  expect(await expectEveryRequestLogged()).toEqual(Array(CLIENTS).fill(400));
});

test('a client that stops sending in the middle of its body gets a 400', async () => {
  await worker.fault({ streamsBodies: true, clockRuns: true });
  const socket = await worker.write(halfOf(createWith(await worker.issueKey())));
  // The deadline of thirty seconds takes less than one, as the clock runs faster.
  const answer = await Promise.race([answerOn(socket), pause(60_000)]);
  expect(answer?.status).toBe(400);
  expect(await expectEveryRequestLogged()).toEqual([400]);
});

test('a reset during a read of KV does not keep a revoked key valid', async () => {
  const key = await worker.issueKey({ id: 'leaked' });
  expect((await worker.send(listWith(key))).status).toBe(200);
  await worker.issueKey({ id: 'leaked', ...REVOKED }, key);
  await worker.fault({ ahead: 31_000, kv: 'is held' });
  const socket = await worker.write(bytesOf(listWith(key)));
  await worker.until(({ held }) => held === 1);
  socket.resetAndDestroy();
  await worker.fault({ ahead: 32_000 });
  expect((await worker.send(listWith(key))).status).toBe(401);
});
