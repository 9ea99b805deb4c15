/** What the store asks of the platform: exact counts, the same on every machine. */
import { LOCAL_KEY } from '../ops/local-store.ts';
import { app } from '../src/app.ts';
import { generateKey } from '../src/keys/format.ts';
import { recordName } from '../src/keys/record.ts';

export type Usage = {
  rowsRead: number;
  rowsWritten: number;
  kvReads: number;
  /** SQL of the statements that ran. */
  statements: string[];
};

/** Requests that are under way together. */
const AT_ONCE = 50;

export type Call = {
  path: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
};

/** What one request uses: the app in this process, on the bindings of a server. */
export async function meter(env: Env, call: Call): Promise<Usage> {
  const usage: Usage = { rowsRead: 0, rowsWritten: 0, kvReads: 0, statements: [] };
  await send({ ...env, DB: metered(env.DB, usage), API_KEYS: counting(env.API_KEYS, usage) }, call);
  return usage;
}

/**
 * KV reads of `count` requests with one new key, which one isolate answers within ten seconds: for the store no time
 * passes between them, however slow this machine is.
 */
export async function kvReads(env: Env, count: number, { path }: Call): Promise<number> {
  const usage: Usage = { rowsRead: 0, rowsWritten: 0, kvReads: 0, statements: [] };
  const key = generateKey('local');
  const record = { id: 'once', label: 'once', createdAt: '2026-11-20T00:00:00.000Z' };
  await env.API_KEYS.put(await recordName(key), JSON.stringify(record));
  const bindings = { ...env, API_KEYS: counting(env.API_KEYS, usage) };
  const headers = { authorization: `Bearer ${key}` };
  const { now } = Date;
  const moment = now();
  Date.now = () => moment;
  try {
    await send(bindings, { path, headers });
    for (let sent = 1; sent < count; sent += AT_ONCE) {
      const batch = Array(Math.min(AT_ONCE, count - sent)).fill({ path, headers });
      await Promise.all(batch.map((call) => send(bindings, call)));
    }
  } finally {
    Date.now = now;
  }
  return usage.kvReads;
}

/** How SQLite carries a statement out, one line for each step. */
export async function queryPlan(db: D1Database, sql: string): Promise<string[]> {
  const parameters = new Set(sql.match(/\?[0-9]+/g)).size;
  const values = Array.from({ length: parameters }, () => '1');
  const explain = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...values);
  const { results } = await explain.all<{ detail: string }>();
  return results.map(({ detail }) => detail);
}

async function send(env: object, { path, headers, ...init }: Call): Promise<void> {
  const authorization = `Bearer ${LOCAL_KEY}`;
  const sent = { 'content-type': 'application/json', authorization, ...headers };
  const response = await withoutLog(() => app.request(path, { ...init, headers: sent }, env));
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  await response.text();
}

const print = console.log;
let running = 0;

/** The app's log lines would be printed. */
async function withoutLog<T>(run: () => T | Promise<T>): Promise<T> {
  running += 1;
  console.log = () => {};
  try {
    return await run();
  } finally {
    running -= 1;
    if (running === 0) console.log = print;
  }
}

function counting(kv: KVNamespace, usage: Usage) {
  const get = (name: string, options: KVNamespaceGetOptions<'text'>) => {
    usage.kvReads += 1;
    return kv.get(name, options);
  };
  return { get };
}

/** The database as far as the store uses it. */
function metered(db: D1Database, usage: Usage) {
  const originals = new WeakMap<object, D1PreparedStatement>();
  const count = <T extends D1Result>(result: T): T => {
    usage.rowsRead += result.meta.rows_read;
    usage.rowsWritten += result.meta.rows_written;
    return result;
  };
  const wrap = (statement: D1PreparedStatement) => {
    const wrapper = {
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: async () => count(await statement.all()),
    };
    originals.set(wrapper, statement);
    return wrapper;
  };
  return {
    prepare(sql: string) {
      usage.statements.push(sql);
      return wrap(db.prepare(sql));
    },
    async batch(wrappers: object[]) {
      const statements = wrappers.flatMap((wrapper) => originals.get(wrapper) ?? []);
      return (await db.batch(statements)).map(count);
    },
  };
}
