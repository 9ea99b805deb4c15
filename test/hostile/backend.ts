/**
 * The bindings of the worker under test: D1, KV and the rate limiters, in one Durable Object with SQLite. Calls leave the
 * isolate, as calls to the real bindings do, and return when the test releases them.
 */
import { DurableObject } from 'cloudflare:workers';

export type Binding = 'kv' | 'd1' | 'limiter';

/** The settings of a test. A given field replaces the earlier value. */
export type Settings = {
  /** Milliseconds until a call returns, or `held`: until `release`. D1 runs the query first. */
  delays?: Partial<Record<Binding, number | 'held'>>;
  /** Bindings whose calls fail. */
  failing?: Binding[];
  /** Names of rate limiters that reject. */
  rejecting?: string[];
  /** KV values by name. */
  records?: Record<string, string>;
};

/** Calls since the test began, and how many of them have not returned yet. */
export type Calls = {
  kvReads: number;
  d1: number;
  /** Animals in the database. */
  pets: number;
  /** By limiter. */
  limits: Record<string, number>;
  waiting: Record<Binding, number>;
};

const startSettings = (): Required<Settings> => ({
  delays: {},
  failing: [],
  rejecting: [],
  records: {},
});
const startCalls = () => ({
  kvReads: 0,
  d1: 0,
  limits: Object.fromEntries<number>([]),
  waiting: { kv: 0, d1: 0, limiter: 0 },
});

type Query = { sql: string; params?: unknown[] };
type BackendEnv = { BACKEND: DurableObjectNamespace<Backend>; MIGRATIONS: string };

/** D1's session token; every value is valid. */
const TOKEN_HEADER = 'x-cf-d1-session-commit-token';
const TOKEN = `00000001-00000002-00000003-${'0'.repeat(32)}`;

export class Backend extends DurableObject<BackendEnv> {
  settings = startSettings();
  calls = startCalls();
  released = Promise.withResolvers<void>();

  constructor(context: DurableObjectState, env: BackendEnv) {
    super(context, env);
    context.storage.sql.exec(env.MIGRATIONS);
  }

  /** Resets everything: records, rows, delays, calls. */
  restart(): void {
    this.settings = startSettings();
    this.calls = startCalls();
    this.release();
    this.ctx.storage.sql.exec(
      'DELETE FROM pets; DELETE FROM orders; DELETE FROM idempotency_keys; DELETE FROM sqlite_sequence',
    );
  }

  set({ records, ...settings }: Settings): void {
    Object.assign(this.settings.records, records);
    Object.assign(this.settings, settings);
  }

  release(): void {
    this.released.resolve();
    this.released = Promise.withResolvers();
  }

  report(): Calls {
    const count = this.ctx.storage.sql.exec('SELECT count(*) AS pets FROM pets');
    return { ...this.calls, pets: Number(count.one().pets) };
  }

  async read(name: string): Promise<string | undefined> {
    this.calls.kvReads += 1;
    // A read in progress does not see later writes.
    const value = this.settings.records[name];
    await this.answer('kv');
    return value;
  }

  names(): { name: string }[] {
    return Object.keys(this.settings.records).map((name) => ({ name }));
  }

  /** Runs the queries in one transaction. */
  async query(queries: Query[]): Promise<object> {
    this.calls.d1 += 1;
    let answer: object;
    try {
      answer = this.ctx.storage.transactionSync(() => queries.map((query) => this.run(query)));
    } catch (error) {
      answer = { success: false, error: error instanceof Error ? error.message : String(error) };
    }
    await this.answer('d1');
    return answer;
  }

  async limit(limiter: string): Promise<{ success: boolean }> {
    this.calls.limits[limiter] = (this.calls.limits[limiter] ?? 0) + 1;
    await this.answer('limiter');
    return { success: !this.settings.rejecting.includes(limiter) };
  }

  private run({ sql, params = [] }: Query): object {
    const cursor = this.ctx.storage.sql.exec(sql, ...params);
    const results = cursor.toArray();
    const changes = this.ctx.storage.sql.exec('SELECT changes() AS n').one().n;
    const { rowsRead: rows_read, rowsWritten: rows_written } = cursor;
    return { success: true, results, meta: { changes, rows_read, rows_written, duration: 0 } };
  }

  private async answer(binding: Binding): Promise<void> {
    const delay = this.settings.delays[binding] ?? 0;
    const { waiting } = this.calls;
    waiting[binding] += 1;
    if (delay === 'held') await this.released.promise;
    else if (delay > 0) await scheduler.wait(delay);
    waiting[binding] -= 1;
    if (this.settings.failing.includes(binding)) throw new Error(`${binding} fails`);
  }
}

const backend = (env: BackendEnv) => env.BACKEND.getByName('the only one');

/** The protocol of workerd's own D1 binding. */
export const d1 = {
  async fetch(request, env) {
    const sent = await request.json<Query | Query[]>();
    const answer = await backend(env).query(Array.isArray(sent) ? sent : [sent]);
    const inSession = request.headers.has(TOKEN_HEADER);
    return Response.json(answer, { headers: inSession ? { [TOKEN_HEADER]: TOKEN } : {} });
  },
} satisfies ExportedHandler<BackendEnv>;

/** The protocol of workerd's own KV binding: reading a value, and listing names. */
export const kv = {
  async fetch(request, env) {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    if (name === '') {
      return Response.json({ keys: await backend(env).names(), list_complete: true });
    }
    const value = await backend(env).read(name);
    return new Response(value ?? null, { status: value === undefined ? 404 : 200 });
  },
} satisfies ExportedHandler<BackendEnv>;
