/** The requests of tests with faults, and the contents of D1. */
import { expect } from 'vitest';
import type { Reply, Store } from '../store.ts';
import type { D1Fault } from './d1.ts';

/** The faults of a D1 that fails at random. */
export const RANDOM_FAULTS: D1Fault[] = [
  'throws',
  'loses the response',
  'hangs',
  'runs, then hangs',
  'is slow',
  'is overloaded',
  'is full',
  'has another schema',
];

/** Sends a request until its response is not a 5xx, as a client would. */
export async function untilAnswered(send: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const reply = await send();
    if (reply.status < 500) return reply;
    expect([500, 503]).toContain(reply.status);
  }
  throw new Error('no response');
}

export function clientOf(store: Store) {
  function send(method: string, path: string, body?: unknown, key?: string): Promise<Reply> {
    return store.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', 'idempotency-key': key ?? null },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }
  const place = (petId: number, key?: string) => send('POST', '/v1/store/orders', { petId }, key);
  const move = (orderId: number, status: string) =>
    send('PATCH', `/v1/store/orders/${orderId}`, { status });
  const update = (petId: number, patch: object) => send('PATCH', `/v1/pets/${petId}`, patch);
  const remove = (petId: number) => send('DELETE', `/v1/pets/${petId}`);

  /** Puts animals and orders into D1. An animal's name is its id. */
  function given(pets: (string | null)[], orders: [petId: number, status: string][] = []) {
    return store.exec(
      `INSERT INTO pets (name, category_id, status)
         SELECT CAST(key + 1 AS TEXT), 1, value FROM json_each('${JSON.stringify(pets)}');
       INSERT INTO orders (pet_id, status)
         SELECT value ->> 0, value ->> 1 FROM json_each('${JSON.stringify(orders)}')`,
    );
  }

  /** Every animal and order in D1, a line each. */
  let everything: D1PreparedStatement | undefined;
  async function contents(): Promise<string[]> {
    const { DB } = await store.bindings();
    everything ??= DB.prepare(
      `SELECT line FROM (
         SELECT 1 AS part, id, 'animal ' || name || ' is ' || ifnull(status, 'without status') AS line FROM pets
         UNION ALL SELECT 2, id, 'order ' || id || ' of ' || pet_id || ' is ' || status FROM orders
       ) ORDER BY part, id`,
    );
    const { results } = await everything.all<{ line: string }>();
    return results.map(({ line }) => line);
  }

  /** The names of all animals. */
  async function names(): Promise<string[]> {
    const { DB } = await store.bindings();
    const { results } = await DB.prepare('SELECT name FROM pets').all<{ name: string }>();
    return results.map(({ name }) => name);
  }

  return { given, contents, names, place, move, update, remove };
}
