/** The invariants of animals and their orders. */
import { expect } from 'vitest';
import { isOpen, type Order, PET_STATUS } from './model.ts';

/**
 * Expects that an animal has at most one open order, that this order determines its status, and that a status
 * determined by an order is the one that belongs to the status of the order.
 *
 * @param orderOf the order that determines the status of an animal; `undefined` if a client set the status.
 */
export function expectInvariants(
  pets: { id: number; status?: string | null }[],
  orders: Order[],
  orderOf: (petId: number) => number | undefined,
): void {
  const open = orders.filter(({ status }) => isOpen(status));
  expect(new Set(open.map(({ petId }) => petId)).size, 'an animal has at most one open order').toBe(
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
  expect(open.sort(byId), 'an open order determines the status of its animal').toEqual(
    known.sort(byId),
  );
}
