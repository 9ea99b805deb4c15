/**
 * The store under test, for a test file: sends requests, and writes and reads the rows of its
 * database.
 */
import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, expect } from 'vitest';
import { generateKey } from '../../ops/keys/generate-key.ts';
import { type KeyRecord, recordName } from '../../src/auth/key-record.ts';
import { parseJson } from '../../src/exact-json.ts';
import type { Calls, Faults } from '../faults/worker.ts';
import { expectDescribed } from './contract.ts';
import { type Main, readVars, type Server, serverOfProcess } from './server.ts';
import { type Call, headersWith, RECORD } from './stubs.ts';

/** `key` is by default the suite's; `null` for none. */
type RequestOptions = Omit<Call, 'path'> & { key?: string | null };

export type Reply = { status: number; headers: Headers; text: string; body: unknown };

type Row = Record<string, string | number | bigint | null>;

/** Starts the store for a test file. Each test begins with an empty database. */
export const startStore = () => start('src/index.ts', 'local');

/**
 * The same, with bindings that fail on demand: see faults/worker.ts. It can have the variables of
 * staging, over https.
 */
export const startFaultyStore = (env: 'local' | 'staging' = 'local') =>
  start('test/faults/app.ts', env);

function start(main: Main, env: string) {
  const suiteKey = generateKey(env);
  let server: Server;
  /** The variables of the environment, for the worker with faults. */
  const vars = readVars(env);
  /**
   * Sends a request without the proxy of `wrangler dev`, which would double its time. Any host
   * reaches the worker; staging accepts https alone.
   */
  const request = (path: string, init?: Parameters<Server['worker']['fetch']>[1]) => {
    const origin = env === 'local' ? server.origin : 'https://animal-store.example';
    return server.worker.fetch(`${origin}${path}`, init);
  };
  const requestIds = new Set<unknown>();
  let scheduledRuns = 0;

  const insert = (table: string, row: Row) => {
    const values = Object.values(row).map((value) =>
      typeof value === 'string' ? `'${value}'` : String(value),
    );
    return store.exec(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${values})`);
  };

  const store = {
    /** The origin of its addresses. */
    url: () => server.origin,
    /** The beginning of the addresses in its headers. */
    baseUrl: () => vars?.BASE_URL ?? `${server.origin}/v1`,

    /** Sends any request to the worker. For a JSON body, `send` is shorter. */
    async fetch(
      path: string,
      { method = 'GET', key = suiteKey, headers, body = null }: RequestOptions = {},
    ) {
      const sentHeaders = headersWith({ authorization: key && `Bearer ${key}`, ...headers });
      const response = await request(path, { method, headers: [...sentHeaders], body });
      requestIds.add(response.headers.get('x-request-id'));
      return readReply(method, path, response);
    },

    /** Sends a body: a string unchanged, anything else as JSON. */
    send(method: string, path: string, body: unknown, init: RequestOptions = {}) {
      const headers = { 'content-type': 'application/json', ...init.headers };
      const json = typeof body === 'string' ? body : JSON.stringify(body);
      return store.fetch(path, { ...init, method, body: json, headers });
    },

    createPet: (body: unknown, init?: RequestOptions) => store.send('POST', '/v1/pets', body, init),
    placeOrder: (body: unknown, init?: RequestOptions) =>
      store.send('POST', '/v1/store/orders', body, init),

    /** Inserts an animal, or an order. The first one without an `id` has the id 1. */
    insertPet: (row: Row = {}) => insert('pets', { name: 'Rex', category_id: 3, ...row }),
    insertOrder: (row: Row) => insert('orders', row),

    /** All rows of a table, in the order of its first column. Integers beyond 2^53 are rounded. */
    async rows(table: string) {
      const { results } = await server.bindings.DB.prepare(
        `SELECT * FROM ${table} ORDER BY 1`,
      ).all();
      return results;
    },

    /** Expects a request to leave the database as it is, and returns its reply. */
    async expectUnchanged<Result>(send: () => Promise<Result>): Promise<Result> {
      const readAll = () => Promise.all(server.tables.map(store.rows));
      const before = await readAll();
      const reply = await send();
      expect(await readAll()).toEqual(before);
      return reply;
    },

    /** Puts a key's record into KV, and returns the key. */
    async issueKey(record: Partial<KeyRecord> = {}) {
      const key = generateKey(env);
      await store.putRecord(key, { id: randomUUID(), ...record });
      return key;
    },

    /** Puts a key's record into KV, or replaces it. */
    async putRecord(key: string, record: Partial<KeyRecord>) {
      const json = JSON.stringify({ ...RECORD, ...record });
      await server.bindings.API_KEYS.put(await recordName(key), json);
    },

    bindings: () => server.bindings,

    /** Empties the tables, and resets their ids, as before each test. */
    emptyTables: () => store.exec(server.tables.map((table) => `DELETE FROM ${table}`).join('; ')),

    /**
     * Runs SQL statements in one call. A prepared statement takes five calls to the other process.
     */
    async exec(sql: string) {
      // D1 takes each line for a statement.
      await server.bindings.DB.exec(sql.replaceAll('\n', ' '));
    },

    /** Only of a faulty store: replaces the faults, and sets the counts of `calls` to 0. */
    async fault(faults: Faults) {
      const init = { method: 'PUT', body: JSON.stringify({ vars, ...faults }) };
      expect((await request('/__faults', init)).status).toBe(200);
    },

    /** Only of a faulty store: the number of calls since the last `fault`. */
    async calls(): Promise<Calls> {
      const response = await request('/__faults');
      return JSON.parse(await response.text());
    },

    /** Runs the scheduled handler, and returns whether it succeeded. */
    async scheduled() {
      const { outcome } = await server.worker.scheduled({ cron: '*/10 * * * *' });
      scheduledRuns += 1;
      return outcome === 'ok';
    },

    /**
     * The parsed log lines of the requests that this test sent with `fetch`, and of its scheduled
     * runs.
     */
    async logLines() {
      const lines = () =>
        parseLines(server.harness.getLogs().map(({ message }) => message)).filter(
          ({ requestId, task }) => task !== undefined || requestIds.has(requestId),
        );
      // The runtime's process delivers a line some time after the response.
      const count = requestIds.size + scheduledRuns;
      await expect.poll(() => lines().length, { interval: 5 }).toBeGreaterThanOrEqual(count);
      return lines();
    },
  };

  beforeAll(async () => {
    server = await serverOfProcess(main);
    await store.putRecord(suiteKey, { id: 'suite' });
  });
  beforeEach(async () => {
    if (main === 'test/faults/app.ts') await store.fault({});
    await store.emptyTables();
    server.harness.clearLogs();
    requestIds.clear();
    scheduledRuns = 0;
  });
  afterEach(async () => {
    // All lines have arrived now, and none has an API key.
    await store.logLines();
    for (const { message } of server.harness.getLogs())
      expect(message).not.toMatch(/animal_[a-z]+_\w{36}/);
  });
  return store;
}

/** Whether a printed text is a log line of the service, and not what a developer prints. */
export const isLine = (text: unknown) => String(text).startsWith('{"time":');

/** The log lines of the service among printed texts. */
export const parseLines = (texts: string[]): Record<string, unknown>[] =>
  texts.filter(isLine).map((line) => JSON.parse(line));

/** Reads a response, and expects it to be as described. */
export async function readReply(
  method: string,
  path: string,
  response: Pick<Response, 'status' | 'text'> & { headers: Iterable<[string, string]> },
) {
  const { status } = response;
  const text = await response.text();
  const body: unknown = text === '' ? undefined : JSON.parse(text);
  const reply = { status, headers: new Headers([...response.headers]), text, body };
  expectDescribed(method, path, reply);
  return reply;
}

/** The body with exact integers, as bigints: in `body`, those beyond 2^53 are rounded. */
export const exact = ({ text }: Pick<Reply, 'text'>): unknown => parseJson(text);

/**
 * Expects an Error body, which has exactly three fields. A test that is not about the message
 * leaves it out.
 */
export function expectError(
  { status, body }: Pick<Reply, 'status' | 'body'>,
  expected: number,
  code: string,
  message: unknown = expect.any(String),
) {
  expect(body).toEqual({ code, message, status: expected });
  expect(status).toBe(expected);
}
