/** The rows that D1 bills for each request to a store of a million animals. */
import { mock } from 'node:test';
import { LOCAL_KEY } from '../ops/local/store.ts';
import { sweepIdempotencyKeys } from '../src/idempotency/sweep.ts';
import { type Call, sendInProcess } from '../test/support/stubs.ts';
import { observe } from './observe.ts';
import { build, withServers } from './servers.ts';
import { table } from './statistics.ts';

const PETS = 1_000_000;

type Rows = { read: number; written: number };

/** Returns a table. */
export async function measureRows(): Promise<string> {
  const bundle = await build('src/index.ts');
  const counts = await withServers([bundle], PETS, ({ env }) => countRows(env, PETS));
  const rows = Object.entries(counts).map(([name, { read, written }]) => {
    return [name, `${read}`, `${written}`];
  });
  return table(['request', 'rows read', 'rows written'], rows);
}

/** In this order, all succeed. */
const callsOf = (pets: number): Record<string, Call> => ({
  'listPets, 20': { path: '/v1/pets?limit=20' },
  'listPets, 20 sold, deep in the list': {
    path: `/v1/pets?limit=20&status=sold&after=${pets * 0.9}`,
  },
  createPet: CREATE_PET,
  getPet: { path: '/v1/pets/4' },
  updatePet: { method: 'PATCH', path: '/v1/pets/4', body: '{"name":"Rex II"}' },
  'updatePet, its status': { method: 'PATCH', path: '/v1/pets/4', body: '{"status":null}' },
  deletePet: { method: 'DELETE', path: '/v1/pets/2' },
  placeOrder: placeOrder(1),
  updateOrder: { method: 'PATCH', path: '/v1/store/orders/1', body: '{"status":"approved"}' },
});

const CREATE_PET = {
  method: 'POST',
  path: '/v1/pets',
  body: '{"name":"Rex","categoryId":3,"status":"sold"}',
};
const placeOrder = (petId: number) => {
  return { method: 'POST', path: '/v1/store/orders', body: `{"petId":${petId}}` };
};

/** Sent with an `Idempotency-Key`, and again. */
const CREATES = { createPet: CREATE_PET, placeOrder: placeOrder(5) };

/** Runs the app in this process, on a database with this many animals and no orders. Prints no log lines. */
export async function countRows(env: Env, pets: number): Promise<Record<string, Rows>> {
  const counts: Record<string, Rows> = {};
  const count = async (name: string, call: Call) => {
    const rows = { read: 0, written: 0 };
    counts[name] = rows;
    const response = await sendInProcess(call, { ...env, DB: counting(env.DB, rows) }, LOCAL_KEY);
    if (!response.ok) throw new Error(`${name}: ${await response.text()}`);
    return rows;
  };
  const log = mock.method(console, 'log', () => {});
  for (const [name, call] of Object.entries(callsOf(pets))) await count(name, call);
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
  return observe(db, ({ meta }) => {
    rows.read += meta.rows_read;
    rows.written += meta.rows_written;
  });
}
