/** The store under test: the real worker in workerd with real D1 and KV, and a client's view of it. */
import { randomInt, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { createTestHarness } from 'wrangler';
import { PROJECT_ROOT } from '../ops/wrangler.ts';
import { checksum } from '../src/keys/format.ts';
import { type KeyRecord, recordName } from '../src/keys/record.ts';

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export type Store = {
  /** Sends a request; with the suite's key unless `Authorization` is given (`null` for none). */
  fetch(path: string, init?: RequestOptions): Promise<Reply>;
  /** Sends a body to createPet: a string as it is, anything else as JSON. */
  create(body: unknown, init?: RequestOptions): Promise<Reply>;
  /** Puts a key's record into KV, and returns the key. */
  issueKey(record?: Partial<KeyRecord>, environment?: string): Promise<string>;
  bindings(): Promise<Env>;
  /** The lines that the worker logged since the test began, parsed. */
  logLines(): Promise<Record<string, unknown>[]>;
};

export type RequestOptions = Omit<RequestInit, 'headers'> & {
  headers?: Record<string, string | null>;
};

export type Reply = { status: number; headers: Headers; text: string; body: unknown };

/** Starts the store for a test file. The database is empty when a test begins. */
export function startStore(options: { env?: string; migrate?: boolean } = {}): Store {
  const { env = 'local', migrate = true } = options;
  const server = createTestHarness({
    root: PROJECT_ROOT,
    workers: [{ configPath: 'wrangler.toml', ...(options.env && { env }) }],
  });
  const worker = server.getWorker<Env>();
  let url: URL;
  const suiteKey = makeKey(env);

  const store: Store = {
    async fetch(path, { headers = {}, ...init } = {}) {
      const sent = { authorization: `Bearer ${suiteKey}`, ...lowerCase(headers) };
      const present = Object.entries(sent).filter((entry): entry is [string, string] => !!entry[1]);
      const response = await fetch(new URL(path, url), {
        redirect: 'manual',
        ...init,
        headers: present,
      });
      const text = await response.text();
      const { status, headers: received } = response;
      return { status, headers: received, text, body: text === '' ? undefined : JSON.parse(text) };
    },
    create(body, { headers, ...init } = {}) {
      return store.fetch('/v1/pets', {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        headers: { 'content-type': 'application/json', ...headers },
        ...init,
      });
    },
    async issueKey(record = {}, environment = env) {
      const key = makeKey(environment);
      await putRecord(key, { id: randomUUID(), ...record });
      return key;
    },
    bindings: () => worker.getEnv(),
    async logLines() {
      // The last request's line may still be under way from the runtime's process to ours.
      await new Promise((resolve) => setTimeout(resolve, 50));
      return server.getLogs().map(({ message }) => JSON.parse(message));
    },
  };

  async function putRecord(key: string, record: Partial<KeyRecord>): Promise<void> {
    const { API_KEYS } = await store.bindings();
    const complete = { label: 'test', createdAt: '2026-11-20T00:00:00Z', ...record };
    await API_KEYS.put(await recordName(key), JSON.stringify(complete));
  }

  beforeAll(async () => {
    ({ url } = await server.listen());
    if (migrate) await worker.applyD1Migrations('DB');
  });
  beforeEach(async () => {
    if (migrate) await (await store.bindings()).DB.exec('DELETE FROM pets');
    await putRecord(suiteKey, { id: 'suite' });
    server.clearLogs();
  });
  afterAll(() => server.close());
  return store;
}

/** A key in the right format, known to nobody. */
export function makeKey(environment = 'local'): string {
  const random = Array.from({ length: 30 }, () => BASE62[randomInt(62)]).join('');
  const body = `animal_${environment}_${random}`;
  return body + checksum(body);
}

function lowerCase(headers: Record<string, string | null>): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}
