/** The requests of tests with faults, and the contents of D1. */
import type { Store } from '../store.ts';

export function clientOf(store: Store) {
  const withKey = (key?: string) => ({ headers: { 'idempotency-key': key ?? null } });
  return {
    create: (name: string, key?: string) => store.create({ name, categoryId: 1 }, withKey(key)),
    place: (petId: number, key?: string) => store.placeOrder({ petId }, withKey(key)),
    move: (orderId: number, status: string) =>
      store.send('PATCH', `/v1/store/orders/${orderId}`, { status }),
    update: (petId: number, patch: object) => store.send('PATCH', `/v1/pets/${petId}`, patch),
    remove: (petId: number) => store.fetch(`/v1/pets/${petId}`, { method: 'DELETE' }),

    /** Every animal and order in D1, a line each. */
    async contents(): Promise<string[]> {
      const { DB } = await store.bindings();
      const { results } = await DB.prepare(
        `SELECT 'animal ' || name || ' is ' || ifnull(status, 'without status') AS line FROM pets
         UNION ALL SELECT 'order ' || id || ' of ' || pet_id || ' is ' || status FROM orders
         ORDER BY line`,
      ).all<{ line: string }>();
      return results.map(({ line }) => line);
    },
  };
}
