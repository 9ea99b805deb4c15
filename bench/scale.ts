/** The rows that D1 bills for each request to a store of a million animals. */
import { mock } from 'node:test';
import { sweepIdempotencyKeys } from '../src/idempotency/sweep.ts';
import { type Call, OPERATIONS, sendInProcess } from './calls.ts';
import type { Rows, Section } from './results.ts';
import { build, withServers } from './servers.ts';

const PETS = 1_000_000;

export async function measureScale(): Promise<Section> {
  const file = await build('src/index.ts');
  return withServers([file], PETS, async ({ env }) => ({ rows: await countRows(env) }));
}

const CALLS: Record<string, Call> = {
  ...OPERATIONS,
  'listPets, 100': { path: '/v1/pets?limit=100' },
  'listPets, deep page of sold': { path: `/v1/pets?status=sold&after=${PETS * 0.9}` },
};

/** Creates to send with an `Idempotency-Key`. The first animal is already ordered. */
const CREATES: Record<string, Call> = {
  createPet: OPERATIONS.createPet,
  placeOrder: { ...OPERATIONS.placeOrder, body: '{"petId":5}' },
};

/** Runs the app in this process, on the database of a server, and prints no log lines. */
async function countRows(env: Env): Promise<Record<string, Rows>> {
  const counts: Record<string, Rows> = {};
  const count = async (name: string, call: Call) => {
    const rows = { read: 0, written: 0 };
    counts[name] = rows;
    const response = await sendInProcess(call, { ...env, DB: counting(env.DB, rows) });
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    return rows;
  };
  const log = mock.method(console, 'log', () => {});
  for (const [name, call] of Object.entries(CALLS)) await count(name, call);
  for (const [name, create] of Object.entries(CREATES)) {
    const call = { ...create, headers: { 'idempotency-key': crypto.randomUUID() } };
    const rows = await count(`${name} with Idempotency-Key`, call);
    await count(`${name} replayed`, call);
    // A day later the record is removed, which is part of the cost of the create.
    await env.DB.exec('UPDATE idempotency_keys SET created_at = 0');
    const run = { cron: '', scheduledTime: Date.now(), noRetry() {} };
    await sweepIdempotencyKeys(run, { ...env, DB: counting(env.DB, rows) });
  }
  log.mock.restore();
  return counts;
}

/** Adds what D1 bills to `rows`. */
function counting(db: D1Database, rows: Rows): D1Database {
  const count = <T extends D1Result>(result: T): T => {
    rows.read += result.meta.rows_read;
    rows.written += result.meta.rows_written;
    return result;
  };
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement =>
    Object.assign(Object.create(statement), {
      statement,
      bind: (...values: unknown[]) => wrap(statement.bind(...values)),
      all: async () => count(await statement.all()),
      run: async () => count(await statement.run()),
    });
  return Object.assign(Object.create(db), {
    prepare: (sql: string) => wrap(db.prepare(sql)),
    batch: async (wrapped: { statement: D1PreparedStatement }[]) =>
      (await db.batch(wrapped.map(({ statement }) => statement))).map(count),
  });
}
