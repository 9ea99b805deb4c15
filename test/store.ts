/** The store under test: the real worker in workerd with real D1 and KV, and a client's view of it. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { createTestHarness, unstable_readConfig as readConfig } from 'wrangler';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { generateKey } from '../src/keys/format.ts';
import { type KeyRecord, recordName } from '../src/keys/record.ts';
import { expectDescribed } from './contract.ts';
import type { Calls, Faults } from './faults/worker.ts';

export type Store = {
  /** The origin that it is served at. */
  url(): string;
  /** Sends a request; with the suite's key unless `Authorization` is given (`null` for none). */
  fetch(path: string, init?: RequestOptions): Promise<Reply>;
  /** Sends a body: a string as it is, anything else as JSON. */
  send(method: string, path: string, body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Sends a body to createPet. */
  create(body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Sends a body to placeOrder. */
  placeOrder(body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Puts a key's record into KV, and returns the key. */
  issueKey(record?: Partial<KeyRecord>, environment?: string): Promise<string>;
  /** Puts a key's record into KV, in place of the one that is there. */
  putRecord(key: string, record: Partial<KeyRecord>): Promise<void>;
  bindings(): Promise<Env>;
  /** With `faults`: what fails from now on, until the next call. */
  fault(faults: Faults): Promise<void>;
  /** With `faults`: what was called since the last `fault`. */
  calls(): Promise<Calls>;
  /** Runs the scheduled handler; whether it succeeded. */
  scheduled(): Promise<boolean>;
  /** The lines that the worker logged since the test began, parsed: one for each request. */
  logLines(): Promise<Record<string, unknown>[]>;
};

export type RequestOptions = Omit<RequestInit, 'headers'> & {
  headers?: Record<string, string | null>;
};

export type Reply = { status: number; headers: Headers; text: string; body: unknown };

type Pairs = [string, string][];

export type StoreOptions = {
  /** The environment of wrangler.toml, called over https; default local, over http. */
  env?: 'staging' | 'production';
  /** Whether the database has its tables; true unless told. */
  migrate?: boolean;
  /** Runs the app with bindings that fail on demand: see faults/worker.ts. */
  faults?: boolean;
  /** With `faults`: the limit of a rate limiter, in place of the one of wrangler.toml. */
  limits?: Partial<Record<'RATE_LIMITER' | 'WRITE_RATE_LIMITER' | 'ADDRESS_RATE_LIMITER', number>>;
};

/** Starts the store for a test file. The database is empty when a test begins. */
export function startStore(options: StoreOptions = {}): Store {
  const { env = 'local', migrate = true } = options;
  const server = createTestHarness({ root: PROJECT_ROOT, workers: [workerInput(options)] });
  const worker = server.getWorker<Env>();
  let url: URL;
  let requests = 0;
  const suiteKey = generateKey(env);

  /** The harness presents the address that it is given. Outside local the worker refuses http. */
  function fetchOverHttps(path: string, { method = 'GET', body }: RequestOptions, headers: Pairs) {
    const text = body === undefined ? {} : { body: String(body) };
    return worker.fetch(`https://animal-store.example${path}`, { method, headers, ...text });
  }

  const store: Store = {
    url: () => url.origin,
    async fetch(path, { headers = {}, ...init } = {}) {
      const sent = { authorization: `Bearer ${suiteKey}`, ...lowerCase(headers) };
      const present = Object.entries(sent).filter(
        (entry): entry is [string, string] => entry[1] !== null,
      );
      const response =
        env === 'local'
          ? await fetch(new URL(path, url), { redirect: 'manual', ...init, headers: present })
          : await fetchOverHttps(path, init, present);
      // Static assets are served without the worker, which logs nothing of them.
      if (response.headers.has('x-request-id')) requests += 1;
      const text = await response.text();
      const { status } = response;
      const received = new Headers([...response.headers]);
      const body = text === '' ? undefined : JSON.parse(text);
      const reply = { status, headers: received, text, body };
      expectDescribed(init.method ?? 'GET', path, reply);
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
      const { API_KEYS } = await store.bindings();
      const complete = { label: 'test', createdAt: '2026-11-20T00:00:00Z', ...record };
      await API_KEYS.put(recordName(key), JSON.stringify(complete));
    },
    bindings: () => worker.getEnv(),
    async fault(faults) {
      const response = await fetch(new URL('/__faults', url), {
        method: 'PUT',
        body: JSON.stringify(faults),
      });
      expect(response.status).toBe(200);
    },
    calls: async () => (await fetch(new URL('/__faults', url))).json() as Promise<Calls>,
    async scheduled() {
      const { outcome } = await worker.scheduled({ cron: '*/10 * * * *' });
      requests += 1;
      return outcome === 'ok';
    },
    async logLines() {
      // A line comes from the runtime's process, some time after the answer.
      await expect.poll(() => server.getLogs().length).toBeGreaterThanOrEqual(requests);
      return server.getLogs().map(({ message }) => JSON.parse(message));
    },
  };

  beforeAll(async () => {
    ({ url } = await server.listen());
    if (migrate) await worker.applyD1Migrations('DB');
  });
  beforeEach(async () => {
    if (migrate)
      await (await store.bindings()).DB.exec(
        'DELETE FROM pets; DELETE FROM orders; DELETE FROM idempotency_keys; DELETE FROM sqlite_sequence',
      );
    await store.putRecord(suiteKey, { id: 'suite' });
    if (options.faults) await store.fault({});
    server.clearLogs();
    requests = 0;
  });
  afterEach(async () => {
    await store.logLines();
    for (const { message } of server.getLogs()) expect(message).not.toMatch(/animal_[a-z]+_\w{36}/);
  });
  afterAll(() => server.close());
  return store;
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
