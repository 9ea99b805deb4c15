/**
 * Clients that disconnect: their requests are completed and logged once. The worker with faults
 * runs in plain workerd, on a socket of its own: behind the proxy of `wrangler dev`, it would not
 * see that clients disconnect.
 */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  unstable_readConfig as readConfig,
  unstable_getMiniflareWorkerOptions as workerOptionsOf,
} from 'wrangler';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { recordName } from '../../src/auth/key-record.ts';
import { isLine } from '../support/store.ts';
import { RECORD } from '../support/stubs.ts';
import type { Calls, Faults } from './worker.ts';

/** The name in wrangler.toml, with which a binding can refer to the worker itself. */
const WORKER = 'animal-store';
const BODY = '{"name":"Rex","categoryId":1}';

/**
 * A response that has not come by then will not come. Without an end, a defect would make this file
 * hang, not fail.
 */
const soon = () => ({ signal: AbortSignal.timeout(20_000) });

let port = 0;
let miniflare: Miniflare;
let bindings: Env;
const lines: string[] = [];

/** Sets the faults, or without them returns the calls since then. */
async function fault(faults?: Faults): Promise<Calls> {
  const init = faults && { method: 'PUT', body: JSON.stringify(faults) };
  const response = await fetch(`http://127.0.0.1:${port}/__faults`, { ...init, ...soon() });
  return JSON.parse(await response.text());
}

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: ['test/faults/app.ts'],
    bundle: true,
    format: 'esm',
    // A class that src/index.ts exports extends one of the runtime's.
    external: ['cloudflare:*'],
    write: false,
  });
  const config = readConfig({ config: 'wrangler.toml' });
  config.vars.LOG = 'all';
  const { workerOptions } = workerOptionsOf(config);
  const { modulesRules: _, assets: __, ...options } = workerOptions;
  const script = outputFiles[0]?.text ?? '';
  miniflare = new Miniflare(
    convertV4MiniflareOptions({
      ...options,
      name: WORKER,
      modules: true,
      script,
      unsafeDirectSockets: [{ port: 0 }],
      handleStructuredLogs: ({ message }) => void (isLine(message) && lines.push(message)),
    }),
  );
  port = Number((await miniflare.unsafeGetDirectURL(WORKER)).port);
  bindings = await miniflare.getBindings<Env>(WORKER);
  const schema = readFileSync('schema.sql', 'utf8');
  // D1 takes each line for a statement.
  await bindings.DB.exec(schema.replaceAll(/--.*$/gm, '').replaceAll('\n', ' '));
});
beforeEach(async () => {
  await bindings.DB.exec('DELETE FROM pets');
  lines.length = 0;
});
afterAll(() => miniflare.dispose());

/** Sends a create, or only the beginning of its body, with a new key. */
async function send(body: string, host = 'localhost') {
  const key = generateKey('local');
  await bindings.API_KEYS.put(await recordName(key), JSON.stringify(RECORD));
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  // A reader receives the error as well; without a reader it is unimportant.
  socket.on('error', () => {});
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${BODY.length}\r\n\r\n${body}`,
  );
  return socket;
}

/** Expects one log line, and so many animals. */
async function expectLogged(line: object, pets: number) {
  await expect.poll(() => lines.length).toBe(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject(line);
  expect(await bindings.DB.prepare('SELECT count(*) AS n FROM pets').first('n')).toBe(pets);
}

test('a create is carried out when its client resets', async () => {
  await fault({ kv: 'is held' });
  const socket = await send(BODY);
  await expect.poll(async () => (await fault()).held, { interval: 5 }).toBe(1);
  socket.resetAndDestroy();
  // The worker sees the reset before its binding returns.
  await pause(50);
  await fault({});
  await expectLogged({ route: '/v1/pets' }, 1);
});

test.each([
  { ending: 'resets', end: 'resetAndDestroy' },
  { ending: 'closes', end: 'end' },
] as const)(
  'a client that $ending in the middle of its body is a 400 in the log',
  async ({ end }) => {
    await fault({ streamsBodies: true });
    const socket = await send(BODY.slice(0, 9));
    // The body is read after the limiter calls.
    await expect.poll(async () => (await fault()).keyLimits, { interval: 5 }).toBe(1);
    await pause(50);
    socket[end]();
    const cause = expect.stringMatching(/disconnected|lost/);
    await expectLogged({ status: 400, code: 'invalid_request', cause }, 0);
  },
);

test('a client that stops in the middle of its body gets a 400 after 30 seconds', async () => {
  await fault({ streamsBodies: true });
  const socket = await send(BODY.slice(0, 9));
  // The clock runs faster: the deadline takes less than a second.
  const [answer] = await once(socket, 'data', soon());
  expect(String(answer)).toMatch(/^HTTP\/1\.1 400 /);
  const cause = 'The client did not respond within 30000 ms';
  await expectLogged({ status: 400, code: 'invalid_request', cause }, 0);
});

test('a malformed Host is no error, although the answer has an address', async () => {
  await fault({});
  const [answer] = await once(await send(BODY, 'a b'), 'data', soon());
  expect(String(answer)).toMatch(/^Location: http:\/\/a b\/v1\/pets\/\d+\r$/m);
  await expectLogged({ status: 201 }, 1);
});
