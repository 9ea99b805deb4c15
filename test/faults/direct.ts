/**
 * The worker with faults in plain workerd, with a socket of its own, and a client that writes any bytes. The proxy of
 * `wrangler dev` is not in between, so the worker sees when clients disconnect.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { unstable_getMiniflareWorkerOptions as workerOptionsOf } from 'wrangler';
import { PROJECT_ROOT } from '../../ops/wrangler.ts';
import { generateKey } from '../../src/auth/key-format.ts';
import type { KeyRecord } from '../../src/auth/key-record.ts';
import { putRecord } from '../store.ts';
import type { Calls, Faults } from './worker.ts';

const NAME = 'direct';

/** Starts the worker for a test file, in the local environment. */
export function startWorker() {
  let port = 0;
  let miniflare: Miniflare;
  let bindings: Env;
  const lines: string[] = [];

  async function control(faults?: Faults): Promise<Calls> {
    const init = faults && { method: 'PUT', body: JSON.stringify(faults) };
    const response = await fetch(`http://127.0.0.1:${port}/__faults`, init);
    return response.json() as Promise<Calls>;
  }

  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [join(import.meta.dirname, 'worker.ts')],
      ...{ bundle: true, minify: true, format: 'esm', write: false },
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
    await control({});
    await bindings.DB.exec('DELETE FROM pets');
    lines.length = 0;
  });
  afterAll(() => miniflare.dispose());

  return {
    /** Writes bytes to a new connection. Resolves when the operating system has them all. */
    async write(bytes: Buffer): Promise<Socket> {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      // A reader receives the error as well; without a reader it is unimportant.
      socket.on('error', () => {});
      await new Promise((resolve) => socket.write(bytes, resolve));
      return socket;
    },
    /** Sends a request, and resolves to its response. */
    async send(sent: Sent): Promise<Answer> {
      return answerOn(await this.write(bytesOf(sent)));
    },
    fault: control,
    calls: () => control(),
    /** Resolves when the calls are as expected. */
    until: (isReached: (calls: Calls) => boolean) =>
      expect.poll(async () => isReached(await control()), { interval: 5 }).toBe(true),
    /** Puts a key's record into KV, for a new key unless one is given, and returns the key. */
    async issueKey(record: Partial<KeyRecord> = {}, key = generateKey('local')): Promise<string> {
      await putRecord(bindings.API_KEYS, key, { id: randomUUID(), ...record });
      return key;
    },
    /** The number of animals in D1. */
    pets: () => bindings.DB.prepare('SELECT count(*) AS n FROM pets').first<number>('n'),
    /** The parsed log lines since the test began. */
    logLines: () => lines.map((line): Record<string, unknown> => JSON.parse(line)),
  };
}

/** A request. Headers are written as UTF-8, unchecked: Node's own client would reject some. */
export type Sent = {
  method?: string;
  path?: string;
  headers?: Record<string, string>;
  body?: string;
};

/** `head` is the status line and the headers. */
export type Answer = { status: number; head: string };

/** A create with an API key. */
export function creating(key: string, body: string, headers: Record<string, string> = {}): Sent {
  const own = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  return { method: 'POST', headers: { ...own, ...headers }, body };
}

/** The bytes of a request with `Connection: close`. */
export function bytesOf({ method = 'GET', path = '/v1/pets', headers = {}, body = '' }: Sent) {
  const lines = [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close'];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  if (body) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** The response that arrives on a connection. */
export async function answerOn(socket: Socket): Promise<Answer> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk);
  const [head = ''] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head };
}
