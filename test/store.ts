/** The store under test: the worker in workerd with real D1 and KV, and a client for it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { generateKey } from '../src/keys/format.ts';
import { type KeyRecord, recordName } from '../src/keys/record.ts';
import { expectDescribed } from './contract.ts';
import type { Calls, Faults } from './faults/worker.ts';

export type Store = {
  /** The origin of its addresses. */
  url(): string;
  /** Sends a request; with the suite's key unless `Authorization` is given (`null` for none). */
  fetch(path: string, init?: RequestOptions): Promise<Reply>;
  /** Sends a body: a string unchanged, anything else as JSON. */
  send(method: string, path: string, body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Sends a body to createPet. */
  create(body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Sends a body to placeOrder. */
  placeOrder(body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Puts a key's record into KV, and returns the key. */
  issueKey(record?: Partial<KeyRecord>, environment?: string): Promise<string>;
  /** Puts a key's record into KV, or replaces it. */
  putRecord(key: string, record: Partial<KeyRecord>): Promise<void>;
  /** Deletes all keys for this test. */
  deleteKeys(): Promise<void>;
  bindings(): Promise<Env>;
  /** With `faults`: sets the faults until the next call, and resets `calls`. */
  fault(faults: Faults): Promise<void>;
  /** With `faults`: the number of calls since the last `fault`. */
  calls(): Promise<Calls>;
  /** Runs the scheduled handler, and returns whether it succeeded. */
  scheduled(): Promise<boolean>;
  /** The parsed log lines of the requests that this test sent with `fetch`, and of its scheduled runs. */
  logLines(): Promise<Record<string, unknown>[]>;
};

export type RequestOptions = {
  method?: string;
  headers?: Record<string, string | null>;
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
};

export type Reply = { status: number; headers: Headers; text: string; body: unknown };

export type StoreOptions = {
  /** The environment of wrangler.toml, over https; default local, over http. */
  env?: 'staging' | 'production';
  /** Whether the migrations are applied; default true. */
  migrate?: boolean;
  /** Runs the app with bindings that fail on demand: see faults/worker.ts. */
  faults?: boolean;
  /** With `faults`: limits that replace those of wrangler.toml. */
  limits?: Partial<Record<'RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER', number>>;
};

type Server = Awaited<ReturnType<typeof startServer>>;

/** The servers of this process by their options. Test files share them; environment.ts closes them. */
const servers = new Map<string, Promise<Server>>();
globalThis.sharedServers = servers;
// Otherwise, the servers would keep a vitest process alive after its parent was killed.
process.once('disconnect', () => process.exit());

async function startServer(options: StoreOptions) {
  const harness = createTestHarness({ root: PROJECT_ROOT, workers: [workerInput(options)] });
  const { url } = await harness.listen();
  const worker = harness.getWorker<Env>();
  if (options.migrate !== false) await worker.applyD1Migrations('DB');
  // Without the proxy of `wrangler dev`, a request takes half of the time.
  const origin = options.env ? 'https://animal-store.example' : url.origin;
  return { harness, worker, url, origin, bindings: await worker.getEnv(), changes: new Set([{}]) };
}

/** Starts the store for a test file. Each test begins with an empty database. */
export function startStore(options: StoreOptions = {}): Store {
  const { env = 'local', migrate = true } = options;
  const suiteKey = generateKey(env);
  let server: Server;
  let hasSuiteKey = false;
  const requestIds = new Set<unknown>();
  let scheduledRuns = 0;

  const store: Store = {
    url() {
      server.changes.add({});
      return server.url.origin;
    },
    async fetch(path, { method = 'GET', headers = {}, body } = {}) {
      const sent = { authorization: `Bearer ${suiteKey}`, ...lowerCase(headers) };
      const present = Object.entries(sent).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      const change = {};
      if (method !== 'GET') server.changes.add(change);
      const init = { method, headers: present, redirect: 'manual' } as const;
      const withBody = body === undefined ? init : { ...init, body, duplex: 'half' as const };
      const response = STATIC_FILE.test(path)
        ? await fetch(new URL(path, server.url), withBody)
        : await server.worker.fetch(`${server.origin}${path}`, withBody);
      // A response of a static asset has no request id, and no log line: the worker is not called.
      const requestId = response.headers.get('x-request-id');
      if (requestId) requestIds.add(requestId);
      const text = await response.text();
      if (response.status === 413) await untilConnected(server);
      const reply: Reply = {
        status: response.status,
        headers: new Headers([...response.headers]),
        text,
        body: text === '' ? undefined : JSON.parse(text),
      };
      // A rejected request changed nothing.
      if (reply.status >= 400 && reply.status < 500) server.changes.delete(change);
      expectDescribed(method, path, reply);
      return reply;
    },
    send(method, path, body, { headers, ...init } = {}) {
      return store.fetch(path, {
        method,
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
        ...init,
      });
    },
    create: (body, init) => store.send('POST', '/v1/pets', body, init),
    placeOrder: (body, init) => store.send('POST', '/v1/store/orders', body, init),
    async issueKey(record = {}, environment = env) {
      const key = generateKey(environment);
      await store.putRecord(key, { id: randomUUID(), ...record });
      return key;
    },
    async putRecord(key, record) {
      const complete = { label: 'test', createdAt: '2026-11-20T00:00:00Z', ...record };
      await server.bindings.API_KEYS.put(await recordName(key), JSON.stringify(complete));
    },
    async deleteKeys() {
      const { API_KEYS } = server.bindings;
      for (const { name } of (await API_KEYS.list()).keys) await API_KEYS.delete(name);
      hasSuiteKey = false;
    },
    async bindings() {
      server.changes.add({});
      return server.bindings;
    },
    async fault(faults) {
      const init = { method: 'PUT', body: JSON.stringify(faults) };
      const response = await server.worker.fetch(`${server.origin}/__faults`, init);
      expect(response.status).toBe(200);
    },
    async calls() {
      const response = await server.worker.fetch(`${server.origin}/__faults`);
      return response.json() as Promise<Calls>;
    },
    async scheduled() {
      const { outcome } = await server.worker.scheduled({ cron: '*/10 * * * *' });
      scheduledRuns += 1;
      return outcome === 'ok';
    },
    async logLines() {
      const lines = () =>
        server.harness
          .getLogs()
          .map(({ message }): Record<string, unknown> => JSON.parse(message))
          .filter(({ requestId, task }) => task !== undefined || requestIds.has(requestId));
      // The runtime's process delivers a line some time after the response.
      const count = requestIds.size + scheduledRuns;
      await expect.poll(() => lines().length, { interval: 5 }).toBeGreaterThanOrEqual(count);
      return lines();
    },
  };

  beforeAll(async () => {
    const name = JSON.stringify(options);
    const started = servers.get(name) ?? startServer(options);
    servers.set(name, started);
    server = await started;
  });
  beforeEach(async () => {
    if (!hasSuiteKey) await store.putRecord(suiteKey, { id: 'suite' });
    hasSuiteKey = true;
    if (migrate && server.changes.size > 0) await server.bindings.DB.exec(EMPTY);
    server.changes.clear();
    if (options.faults) await store.fault({});
    server.harness.clearLogs();
    requestIds.clear();
    scheduledRuns = 0;
  });
  afterEach(async () => {
    await store.logLines();
    for (const { message } of server.harness.getLogs())
      expect(message).not.toMatch(/animal_[a-z]+_\w{36}/);
  });
  return store;
}

/** The paths that the asset router of `wrangler dev` serves, without the worker. */
const STATIC_FILE = /^\/(docs[^?]*|v1\/openapi\.json)?(\?.*)?$/;

/** Empties the tables, and resets their ids. */
export const EMPTY =
  'DELETE FROM pets; DELETE FROM orders; DELETE FROM idempotency_keys; DELETE FROM sqlite_sequence';

/**
 * workerd closes the connection of a request whose body it did not read. A request that is sent on it at that moment
 * fails, so this one takes the failure.
 */
async function untilConnected({ worker, origin }: Server): Promise<void> {
  await expect
    .poll(() => worker.fetch(`${origin}/health`).catch(() => ({ ok: false })))
    .toMatchObject({ ok: true });
}

function workerInput({ env, faults, limits = {} }: StoreOptions) {
  if (!faults) return { configPath: 'wrangler.toml', ...(env && { env }) };
  const config = readConfig({ config: join(PROJECT_ROOT, 'wrangler.toml'), ...(env && { env }) });
  const { name, compatibility_date, vars, d1_databases, kv_namespaces, ratelimits } = config;
  const { version_metadata } = config;
  return {
    config: {
      ...{ name, compatibility_date, vars, d1_databases, kv_namespaces, version_metadata },
      main: 'test/faults/worker.ts',
      ratelimits: ratelimits.map((limiter: { name: string }) => {
        const limit = Object.entries(limits).find(([limited]) => limited === limiter.name)?.[1];
        return limit === undefined
          ? limiter
          : { ...limiter, simple: { limit, period: 10 as const } };
      }),
    },
  };
}

function lowerCase(headers: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
