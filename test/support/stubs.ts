/**
 * Stubs of the bindings, and requests to the app in this process. The benchmarks use them as well,
 * so nothing here needs vitest.
 */
import type { Hono } from 'hono';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { app } from '../../src/app.ts';
import type { AppEnv, Bindings } from '../../src/context.ts';

/** Every binding. A stub may lack the methods that the service does not call. */
export type Stubs = { [name in keyof Bindings]: unknown };

/** The record of an API key. */
export const RECORD = { id: 'stub', label: 'stub', createdAt: '2026-11-20T00:00:00Z' };

/** A row with any column: by default the text of an int64, which is JSON, too. */
const ROW: object = Object.assign(Object.create(new Proxy({}, { get: () => '12' })), {
  name: 'Rex 12',
  status: 'available',
  item: '{}',
  is_same: 1,
});
/** The result of a list of 20, and that of every other statement. */
const PAGE = { results: Array(21).fill(ROW), meta: {} };
const RESULT = { results: [ROW], meta: {} };

const limiter = { limit: async () => ({ success: true }) };

/** All calls succeed, when `answer` resolves. The record of every API key exists. */
export function stubBindings(
  answer: <T>(binding: 'KV' | 'D1', value: T) => Promise<T> = async (_, value) => value,
) {
  const statementOf = (result: object) => {
    const statement = { bind: () => statement, all: () => answer('D1', result) };
    return statement;
  };
  const page = statementOf(PAGE);
  const statement = statementOf(RESULT);
  const DB = {
    // A session is the database itself.
    withSession: (): object => DB,
    prepare: (sql: string) => (sql.includes('LIMIT') ? page : statement),
    batch: (batch: unknown[]) => answer('D1', Array(batch.length).fill(RESULT)),
    getBookmark: () => '00000001-00000002-00000003-ffffffffffffffffffffffffffffffff',
  };
  return {
    ENVIRONMENT: 'production',
    LOG: 'all',
    BASE_URL: 'https://api.animal-store.example/v1',
    CF_VERSION_METADATA: { id: 'stub' },
    API_KEYS: { get: () => answer('KV', JSON.stringify(RECORD)) },
    DB,
    RATE_LIMITER: limiter,
    WRITE_RATE_LIMITER: limiter,
  } satisfies Stubs;
}

export type Call = {
  path: string;
  method?: string;
  body?: string | Uint8Array<ArrayBuffer> | null;
  /** Names are compared without case: the last one wins. `null` removes a header. */
  headers?: Record<string, string | null>;
};

/** The headers of a call with an API key. */
export function headersOf(key: string, headers: Call['headers'] = {}) {
  return headersWith({
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    ...headers,
  });
}

export function headersWith(all: NonNullable<Call['headers']>) {
  const headers = new Headers();
  for (const [name, value] of Object.entries(all)) {
    headers.delete(name);
    if (value !== null) headers.set(name, value);
  }
  return headers;
}

/**
 * Sends a request to an app in this process, with a URL that every environment accepts, by default
 * with a new key.
 */
export function sendInProcess(
  call: Call,
  bindings: Stubs,
  {
    key = generateKey('production'),
    to = app,
  }: { key?: string; to?: Pick<Hono<AppEnv>, 'request'> } = {},
) {
  const url = `https://localhost${call.path}`;
  return to.request(url, { ...call, headers: headersOf(key, call.headers) }, bindings);
}
