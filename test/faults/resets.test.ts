/**
 * Clients that disconnect: their requests are completed and logged once. The worker with faults runs in plain workerd, on a
 * socket of its own: behind the proxy of `wrangler dev`, it would not see that clients disconnect.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { unstable_getMiniflareWorkerOptions as workerOptionsOf } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { generateKey } from '../../src/auth/key-format.ts';
import { putRecord } from '../store.ts';
import type { Calls, Faults } from './worker.ts';

const NAME = 'direct';
const CLIENTS = 20;
const BODY = JSON.stringify({ name: 'Rex', categoryId: 1 });

let port = 0;
let miniflare: Miniflare;
let bindings: Env;
const lines: string[] = [];

/** Sets the faults, or without them returns the calls since then. */
async function fault(faults?: Faults): Promise<Calls> {
  const init = faults && { method: 'PUT', body: JSON.stringify(faults) };
  const response = await fetch(`http://127.0.0.1:${port}/__faults`, init);
  return response.json() as Promise<Calls>;
}

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'worker.ts')],
    ...{ bundle: true, format: 'esm', write: false },
  });
  const { workerOptions } = workerOptionsOf(join(PROJECT_ROOT, 'wrangler.toml'));
  const { modulesRules: _, assets: __, ...options } = workerOptions;
  const script = outputFiles[0]?.text ?? '';
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...{ ...options, name: NAME, modules: true, script, unsafeDirectSockets: [{ port: 0 }] },
      handleStructuredLogs: ({ message }) => lines.push(message),
    }),
  );
  await miniflare.ready;
  port = Number((await miniflare.unsafeGetDirectURL(NAME)).port);
  bindings = await miniflare.getBindings<Env>(NAME);
  const schema = await readFile(join(PROJECT_ROOT, 'schema.sql'), 'utf8');
  // D1 takes each line for a statement.
  await bindings.DB.exec(schema.replaceAll(/--.*$/gm, '').replaceAll('\n', ' '));
});
beforeEach(async () => {
  await fault({});
  await bindings.DB.exec('DELETE FROM pets');
  lines.length = 0;
});
afterAll(() => miniflare.dispose());

/** Resolves when the calls are as expected. */
const until = (isReached: (calls: Calls) => boolean) =>
  expect.poll(async () => isReached(await fault()), { interval: 5 }).toBe(true);

/** Sends a create, or only half of its body, with a new key. */
async function create(bodyLength = BODY.length): Promise<Socket> {
  const key = generateKey('local');
  await putRecord(bindings.API_KEYS, key, { id: randomUUID() });
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // A reader receives the error as well; without a reader it is unimportant.
  socket.on('error', () => {});
  const head = [
    'POST /v1/pets HTTP/1.1',
    ...['Host: localhost', 'Connection: close', `Authorization: Bearer ${key}`],
    ...['Content-Type: application/json', `Content-Length: ${BODY.length}`],
  ].join('\r\n');
  await new Promise((resolve) =>
    socket.write(`${head}\r\n\r\n${BODY.slice(0, bodyLength)}`, resolve),
  );
  return socket;
}

const createMany = (bodyLength?: number) =>
  Promise.all(Array.from({ length: CLIENTS }, () => create(bodyLength)));

/** Expects one log line for each request, with the status 201 for each animal that was added. */
async function expectEveryRequestLogged(): Promise<Record<string, unknown>[]> {
  const { requests } = await fault();
  await expect.poll(() => lines.length).toBe(requests);
  const logged = lines.map((line): Record<string, unknown> => JSON.parse(line));
  expect(new Set(logged.map(({ requestId }) => requestId)).size).toBe(requests);
  const pets = await bindings.DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n');
  expect(logged.filter(({ status }) => status === 201)).toHaveLength(pets ?? 0);
  return logged;
}

test.each<{ faults: Faults; status: number }>([
  { faults: { kv: 'is held' }, status: 201 },
  { faults: { kv: 'is held, then throws' }, status: 503 },
  { faults: { limiters: 'is held' }, status: 201 },
  { faults: { d1: Array(CLIENTS).fill('is held') }, status: 201 },
])('requests whose clients reset during $faults end with $status', async ({ faults, status }) => {
  await fault(faults);
  const sockets = await createMany();
  await until(({ held }) => held >= CLIENTS);
  for (const socket of sockets) socket.resetAndDestroy();
  // The worker sees the resets before its bindings return.
  await pause(50);
  await fault({ release: true });
  expect(await expectEveryRequestLogged()).toMatchObject(Array(CLIENTS).fill({ status }));
});

test.each<{ ending: string; end: (socket: Socket) => void }>([
  { ending: 'resets', end: (socket) => socket.resetAndDestroy() },
  { ending: 'closes', end: (socket) => socket.end() },
])('a client that $ending in the middle of its body is a 400 in the log', async ({ end }) => {
  await fault({ streamsBodies: true });
  const sockets = await createMany(BODY.length / 2);
  // The body is read after the limiter calls.
  await until(({ keyLimits }) => keyLimits === CLIENTS);
  await pause(50);
  for (const socket of sockets) end(socket);
  expect(await expectEveryRequestLogged()).toMatchObject(Array(CLIENTS).fill({ status: 400 }));
});

test('a client that stops in the middle of its body gets a 400 after 30 seconds', async () => {
  await fault({ streamsBodies: true, clockRuns: true });
  const socket = await create(BODY.length / 2);
  // The clock runs faster: the deadline takes less than a second.
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  const cause = 'The client did not respond within 30000 ms';
  expect(await expectEveryRequestLogged()).toMatchObject([{ status: 400, cause }]);
});
