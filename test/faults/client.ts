/** The requests of the tests of orders, and the contents of D1. */
import type { Reply, Store } from '../store.ts';

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
  async function given(pets: (string | null)[], orders: [petId: number, status: string][] = []) {
    const { DB } = await store.bindings();
    const pet = DB.prepare('INSERT INTO pets (name, category_id, status) VALUES (?1, 1, ?2)');
    const order = DB.prepare('INSERT INTO orders (pet_id, status) VALUES (?1, ?2)');
    await DB.batch([
      ...pets.map((status, i) => pet.bind(`${i + 1}`, status)),
      ...orders.map((values) => order.bind(...values)),
    ]);
  }

  /** Every animal and order in D1, a line each. */
  async function contents(): Promise<string[]> {
    const { DB } = await store.bindings();
    const { results } = await DB.prepare(
      `SELECT line FROM (
         SELECT 1 AS part, id, 'animal ' || name || ' is ' || ifnull(status, 'without status') AS line FROM pets
         UNION ALL SELECT 2, id, 'order ' || id || ' of ' || pet_id || ' is ' || status FROM orders
       ) ORDER BY part, id`,
    ).all<{ line: string }>();
    return results.map(({ line }) => line);
  }

  return { given, contents, place, move, update, remove };
}
