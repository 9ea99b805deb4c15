/**
 * The built worker in plain workerd: without a proxy in front of it, it sees when clients disconnect. Bindings
 * use workerd's own protocols where they exist; backend.ts implements them.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { generateKey } from '../../src/auth/keys/format.ts';
import { type KeyRecord, recordName } from '../../src/auth/keys/record.ts';
import { writeRuntime } from './runtime.ts';
import type { Controls, Report } from './worker.ts';

const WORKERD: string = createRequire(import.meta.url)('workerd').default;

const pause = () => new Promise((resolve) => setTimeout(resolve, 5));

export type Server = {
  port(): number;
  /** Changes the given settings: see {@link Controls}. */
  set(controls: Controls): Promise<Report>;
  report(): Promise<Report>;
  /** Resolves when the report has the expected values. */
  until(isReached: (report: Report) => boolean): Promise<void>;
  /** Puts a key's record into KV, for a new key unless one is given, and returns the key. */
  issueKey(record?: Partial<KeyRecord>, key?: string): Promise<string>;
  /** The log lines since the test began, parsed, after all requests have finished or ten seconds have passed. */
  logLines(): Promise<Record<string, unknown>[]>;
};

/** Starts the worker for a test file, in an environment of wrangler.toml. */
export function startServer(env: 'local' | 'staging' = 'local'): Server {
  const lines: string[] = [];
  let workerd: ChildProcess | undefined;
  let folder = '';
  let port = 0;

  const server: Server = {
    port: () => port,
    async set(controls) {
      const init = { method: 'PUT', body: JSON.stringify(controls) };
      const response = await fetch(`http://127.0.0.1:${port}/__control`, init);
      return response.json() as Promise<Report>;
    },
    report: async () =>
      (await fetch(`http://127.0.0.1:${port}/__control`)).json() as Promise<Report>,
    async until(isReached) {
      await expect.poll(async () => isReached(await server.report()), { interval: 5 }).toBe(true);
    },
    async issueKey(record = {}, key = generateKey(env)) {
      const complete = {
        id: randomUUID(),
        label: 'test',
        createdAt: '2026-11-20T00:00:00Z',
        ...record,
      };
      await server.set({ records: { [await recordName(key)]: JSON.stringify(complete) } });
      return key;
    },
    async logLines() {
      const deadline = Date.now() + 10_000;
      while ((await server.report()).unfinished > 0 && Date.now() < deadline) await pause();
      const mark = randomUUID();
      await server.set({ mark });
      while (!lines.includes(mark)) await pause();
      return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
    },
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'animal-store-'));
    await writeRuntime(folder, env);
    const started = spawn(WORKERD, ['serve', 'config.capnp', '--experimental', '--control-fd=3'], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
    });
    workerd = started;
    process.once('exit', () => started.kill('SIGKILL'));
    const [, stdout, , control] = started.stdio;
    if (!stdout || !(control instanceof Readable)) throw new Error('workerd has no output');
    createInterface({ input: stdout }).on('line', (line) => lines.push(line));
    const [event] = await once(createInterface({ input: control }), 'line');
    ({ port } = JSON.parse(event));
  });
  beforeEach(async () => {
    await server.set({ restart: true });
    lines.length = 0;
  });
  afterAll(async () => {
    if (workerd?.kill('SIGKILL')) await once(workerd, 'exit');
    await rm(folder, { recursive: true, force: true });
  });
  return server;
}
