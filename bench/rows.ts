/** The rows that D1 bills for each request to a store of a million animals, and the calls for which a request waits. */
import type { Calls as Counts } from '../test/faults/worker.ts';
import type { Call } from '../test/support/stubs.ts';
import { send } from './race.ts';
import { build, type Server, withServers } from './servers.ts';
import { format, table } from './statistics.ts';

const PETS = 1_000_000;
/** In dollars for a million: https://developers.cloudflare.com/d1/platform/pricing/, …/kv/platform/pricing/ */
const PRICES = { read: 0.001, written: 1, kvReads: 0.5 };

const LIST = { path: '/v1/pets?limit=20' };
const CREATE = {
  method: 'POST',
  path: '/v1/pets',
  body: '{"name":"Rex","categoryId":3,"status":"sold"}',
};
const GET = { path: '/v1/pets/4' };
const patch = (path: string, body: string) => ({ method: 'PATCH', path, body });
const order = (petId: number) => {
  return { method: 'POST', path: '/v1/store/orders', body: `{"petId":${petId}}` };
};
const keyed = (call: Call) => ({ ...call, headers: { 'idempotency-key': 'k' } });

/** `null` is the scheduled handler. */
type Calls = Record<string, Call | null>;

/** In this order, all succeed. */
const CALLS: Calls = {
  'listPets, first use of the API key': LIST,
  'listPets, 20': LIST,
  createPet: CREATE,
  getPet: GET,
  updatePet: patch('/v1/pets/4', '{"name":"Rex II"}'),
  placeOrder: order(1),
  updateOrder: patch('/v1/store/orders/1', '{"status":"approved"}'),
  'createPet with Idempotency-Key': keyed(CREATE),
  'createPet replayed': keyed(CREATE),
  'removal of its record, a day later': null,
  'placeOrder with Idempotency-Key': keyed(order(5)),
  'placeOrder replayed': keyed(order(5)),
};

const PLAIN_CALLS: Calls = {
  'plain Hono: list of 20': LIST,
  'plain Hono: create': CREATE,
  'plain Hono: get': GET,
};

/** Returns a table. */
export async function measureRows(): Promise<string> {
  const count = async (entry: string, calls: Calls) =>
    withServers([await build(entry)], PETS, (server) => countCalls(server, calls));
  const ours = await count('test/faults/app.ts', CALLS);
  const theirs = await count('bench/workers/faulty-plain-hono.ts', PLAIN_CALLS);
  return table(
    ['request', 'rows read', 'rows written', 'waits for KV', 'waits for D1', '$ of KV and D1'],
    [...ours, ...theirs],
  );
}

async function countCalls({ port, env, worker }: Server, calls: Calls): Promise<string[][]> {
  const url = `http://127.0.0.1:${port}/__faults`;
  // The time of day stands still, and the API key stays fresh.
  const faults = JSON.stringify({ now: Date.now() });
  const rows: string[][] = [];
  for (const [name, call] of Object.entries(calls)) {
    if (!call) await env.DB.exec('UPDATE idempotency_keys SET created_at = 0');
    await fetch(url, { method: 'PUT', body: faults });
    await (call ? send(port, call, 1) : worker.scheduled());
    const counted = await fetch(url);
    const { read, written, kvReads, d1 }: Counts = JSON.parse(await counted.text());
    const price = read * PRICES.read + written * PRICES.written + kvReads * PRICES.kvReads;
    rows.push([name, ...[read, written, kvReads, d1, price].map(format)]);
  }
  return rows;
}
