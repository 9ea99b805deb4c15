/** What holds for every animal and its orders, whatever has happened. */
import { expect } from 'vitest';
import { isOpen, type Order, PET_STATUS } from './model.ts';

/**
 * Expects that at most one order of an animal is open, that it is the one that the animal's status comes
 * from, and that an animal whose status comes from an order has the status that belongs to the order's.
 *
 * @param orderOf the order that the status of an animal comes from; `undefined` if a client set the status.
 */
export function expectInvariants(
  pets: { id: number; status?: string | null }[],
  orders: Order[],
  orderOf: (petId: number) => number | undefined,
): void {
  const open = orders.filter(({ status }) => isOpen(status));
  expect(new Set(open.map(({ petId }) => petId)).size, 'one open order of an animal').toBe(
    open.length,
  );
  const sources = pets.flatMap((pet) => {
    const order = orders.find(({ id }) => id === orderOf(pet.id));
    return order ? [{ pet, order }] : [];
  });
  for (const { pet, order } of sources) {
    expect([pet.id, pet.status]).toEqual([order.petId, PET_STATUS[order.status]]);
  }
  const known = sources.map(({ order }) => order).filter(({ status }) => isOpen(status));
  const byId = (a: Order, b: Order) => a.id - b.id;
  expect(open.sort(byId), 'open orders make their animals pending').toEqual(known.sort(byId));
}
