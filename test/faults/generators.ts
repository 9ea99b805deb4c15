/** Random operations on a few animals and orders, for fast-check. */
import fc from 'fast-check';
import type { Operation } from './model.ts';

/** Clients of one account share its API key, and so their idempotency keys. */
const account = fc.nat({ max: 1 });
const key = fc.option(fc.constantFrom(...'klmnopqrstuv'), { nil: undefined });
const petStatus = fc.constantFrom('available', 'pending', 'sold');
const orderStatus = fc.constantFrom('placed', 'approved', 'delivered', 'cancelled');
/** Many orders are cancelled, so that the animal can be ordered again. */
const move = fc.oneof(orderStatus, fc.constant<'cancelled'>('cancelled'));
export const record = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { noNullPrototype: true });

const name = fc.constantFrom('Rex', 'Mia 🐈', 'Max');
const categoryId = fc.constantFrom(3, -Number.MAX_SAFE_INTEGER);
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

const petId = fc.constant(1);
const orderId = fc.constantFrom(1, 1, 2, 2, 3);
const filter = <T>(status: fc.Arbitrary<T>) => fc.option(status, { nil: undefined });
const one = <Name extends string>(operation: Name) => ({ name: fc.constant(operation), account });
const weighted = (weight: number, arbitrary: fc.Arbitrary<Operation>) => ({ weight, arbitrary });

/** Operations, most of which race for the animal 1: changes, orders and their moves. */
export const operations = fc.oneof(
  weighted(1, record({ ...one('listPets'), status: filter(petStatus) })),
  weighted(1, record({ ...one('createPet'), body: newPet, key })),
  weighted(1, record({ ...one('getPet'), petId })),
  weighted(10, record({ ...one('updatePet'), petId, body: patch })),
  weighted(1, record({ ...one('deletePet'), petId })),
  weighted(1, record({ ...one('listOrders'), status: filter(orderStatus) })),
  weighted(14, record({ ...one('placeOrder'), body: record({ petId }), key })),
  weighted(1, record({ ...one('getOrder'), orderId })),
  weighted(40, record({ ...one('updateOrder'), orderId, body: record({ status: move }) })),
);
