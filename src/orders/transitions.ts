/** The rules of an order's status. */
import type { PetStatus } from '../pets/schema.ts';
import type { OrderStatus } from './schema.ts';

type Transition = {
  /** The statuses that an order can change from. */
  from: OrderStatus[];
  /** The new status of the pet; `null` if it does not change. */
  petStatus: PetStatus | null;
};

/** The transitions by the new status of the order. No order changes to `placed`: `placeOrder` inserts it so. */
export const TRANSITIONS: Record<OrderStatus, Transition> = {
  placed: { from: [], petStatus: null },
  approved: { from: ['placed'], petStatus: null },
  delivered: { from: ['approved'], petStatus: 'sold' },
  cancelled: { from: ['placed', 'approved'], petStatus: 'available' },
};
