/** A client for the store under test, for a test file. */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { generateKey } from '../src/auth/keys/format.ts';
import { type KeyRecord, recordName } from '../src/auth/keys/record.ts';
import { expectDescribed } from './contract.ts';
import type { Calls, Faults } from './faults/worker.ts';
import { EMPTY, readVars, type Server, type ServerOptions, serverOf } from './server.ts';

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
  /** Runs SQL statements in one call; a prepared statement takes five, as it is made in the other process. */
  exec(sql: string): Promise<void>;
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

/** Starts the store for a test file. Each test begins with an empty database. */
export function startStore(options: ServerOptions = {}): Store {
  const { env = 'local' } = options;
  const suiteKey = generateKey(env);
  let server: Server;
  let vars: Faults['vars'];
  /** Sends a request without the proxy of `wrangler dev`, which would double its time. */
  const request: Server['worker']['fetch'] = (path, init) =>
    server.worker.fetch(
      `${env === 'local' ? server.url.origin : 'https://animal-store.example'}${path}`,
      init,
    );
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
        : await request(path, withBody);
      // A response of a static asset has no request id, and no log line: the worker is not called.
      const requestId = response.headers.get('x-request-id');
      if (requestId) requestIds.add(requestId);
      const text = await response.text();
      if (response.status === 413) await untilConnected(request);
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
      server.suiteKeys.clear();
    },
    async bindings() {
      server.changes.add({});
      return server.bindings;
    },
    async exec(sql) {
      const { DB } = await store.bindings();
      // D1 takes each line for a statement.
      await DB.exec(sql.replaceAll('\n', ' '));
    },
    async fault(faults) {
      const init = { method: 'PUT', body: JSON.stringify({ vars, ...faults }) };
      const response = await request('/__faults', init);
      expect(response.status).toBe(200);
    },
    async calls() {
      const response = await request('/__faults');
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
    server = await serverOf(options);
    vars = readVars(env);
  });
  beforeEach(async () => {
    if (!server.suiteKeys.has(suiteKey)) await store.putRecord(suiteKey, { id: 'suite' });
    server.suiteKeys.add(suiteKey);
    if (server.changes.size > 0) await server.bindings.DB.exec(EMPTY);
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

/**
 * workerd closes the connection of a request whose body it did not read. A request that is sent on it at that moment
 * fails, so this one takes the failure.
 */
async function untilConnected(request: Server['worker']['fetch']): Promise<void> {
  await expect
    .poll(() => request('/health').catch(() => ({ ok: false })))
    .toMatchObject({ ok: true });
}

function lowerCase(headers: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
