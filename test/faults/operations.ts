/** Arbitraries of fast-check: operations on a few animals and orders. */
import fc from 'fast-check';
import type { Operation } from './model.ts';

/** Clients of one account share its API key, and so their idempotency keys. */
const account = fc.nat({ max: 1 });
const key = fc.constantFrom('k', 'l', 'm');
const name = fc.constantFrom('Rex', 'Mia 🐈', 'Max');
const categoryId = fc.constantFrom(3, -Number.MAX_SAFE_INTEGER);
const petStatus = fc.constantFrom('available', 'pending', 'sold');
const orderStatus = fc.constantFrom('placed', 'approved', 'delivered', 'cancelled');
const move = fc.constantFrom('placed', 'approved', 'delivered', 'cancelled', 'cancelled');
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
export const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true });

const newPet = fc.constantFrom<{ name: string; categoryId: number; status?: 'available' }>(
  { name: 'Rex', categoryId: 3, status: 'available' },
  { name: 'Mia 🐈', categoryId: -Number.MAX_SAFE_INTEGER },
);
const patch = fc
  .record(
    { name, categoryId, status: fc.constantFrom('available', 'available', 'sold', null) },
    { requiredKeys: [], noNullPrototype: true },
  )
  .filter((fields) => Object.keys(fields).length > 0);

/** Operations on the first animals and orders; `limit` is that of a page. */
export function operations(pets: number, limit: fc.Arbitrary<number>): fc.Arbitrary<Operation> {
  const petId = fc.integer({ min: 1, max: pets });
  const orderId = fc.constantFrom(1, 1, 2, 3);
  const named = <Name extends string>(operation: Name) => ({
    name: fc.constant(operation),
    account,
  });
  const weighted = (weight: number, arbitrary: fc.Arbitrary<Operation>) => ({ weight, arbitrary });
  return fc.oneof(
    weighted(1, record({ ...named('listPets'), status: optional(petStatus), limit })),
    weighted(pets, record({ ...named('createPet'), body: newPet, key: optional(key) })),
    weighted(1, record({ ...named('getPet'), petId })),
    weighted(10, record({ ...named('updatePet'), petId, body: patch })),
    weighted(1, record({ ...named('deletePet'), petId })),
    weighted(1, record({ ...named('listOrders'), status: optional(orderStatus), limit })),
    weighted(12, record({ ...named('placeOrder'), body: record({ petId }), key: optional(key) })),
    weighted(1, record({ ...named('getOrder'), orderId })),
    weighted(12, record({ ...named('updateOrder'), orderId, body: record({ status: move }) })),
  );
}
