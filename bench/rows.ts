/**
 * The rows that D1 bills for each request to a store of a million animals, and the calls for which
 * a request waits.
 */
import type { Calls as Counts } from '../test/faults/worker.ts';
import type { Call } from '../test/support/stubs.ts';
import { REQUESTS, send } from './race.ts';
import { build, type Server, withServers } from './servers.ts';
import { format, table } from './statistics.ts';

const PETS = 1_000_000;
/** In dollars for a million beyond the included usage: BENCHMARKS.md has the sources. */
const PRICES = { read: 0.001, written: 1, kvReads: 0.5 };
/**
 * Of a request, its CPU (1 ms at most), and its log line of 4.84 KB from 1 December 2026, kept for
 * 7 days of a month.
 */
const EVERY_REQUEST = 0.3 + 0.02 + 4.84 * (0.25 + (0.1 * 7) / 30);

const { list, get, create } = REQUESTS;
const keyed = (call: Call) => ({ ...call, headers: { 'idempotency-key': 'k' } });

/** In this order, all succeed. `null` is the scheduled handler. */
const CALLS: Record<string, Call | null> = {
  'list, cold: first use of the API key': list,
  'list of 20': list,
  get,
  create,
  'create with an Idempotency-Key': keyed(create),
  'the same again': keyed(create),
  'removal of its record, a day later': null,
};

/** Returns a table. */
export async function measureRows(): Promise<string> {
  const bundle = await build('test/faults/app.ts');
  const rows = await withServers([bundle], PETS, countCalls);
  return table(
    ['request', 'rows read', 'written', 'KV reads', 'D1 calls', '$ of D1, KV', '$ in all'],
    rows,
  );
}

async function countCalls({ port, env, worker }: Server): Promise<string[][]> {
  const url = `http://127.0.0.1:${port}/__faults`;
  // The time of day stands still, and the API key stays fresh.
  const faults = JSON.stringify({ now: Date.now() });
  const rows: string[][] = [];
  for (const [name, call] of Object.entries(CALLS)) {
    if (!call) await env.DB.exec('UPDATE idempotency_keys SET created_at = 0');
    await fetch(url, { method: 'PUT', body: faults });
    await (call ? send(port, call) : worker.scheduled());
    const counted = await fetch(url);
    const { read, written, kvReads, d1 }: Counts = JSON.parse(await counted.text());
    const price = read * PRICES.read + written * PRICES.written + kvReads * PRICES.kvReads;
    const total = call ? price + EVERY_REQUEST : price;
    const counts = [read, written, kvReads, d1].map(format);
    rows.push([name, ...counts, price.toFixed(3), total.toFixed(2)]);
  }
  return rows;
}
