import type { PetStatus } from '../pets/schemas.ts';
import type { OrderStatus } from './schemas.ts';

type Transition = {
  from: OrderStatus[];
  /** The new status of the pet; `null` if the transition does not change it. */
  petStatus: PetStatus | null;
};

/** By the new status of the order. No order changes to `placed`. */
export const TRANSITIONS: Record<OrderStatus, Transition> = {
  placed: { from: [], petStatus: null },
  approved: { from: ['placed'], petStatus: null },
  delivered: { from: ['approved'], petStatus: 'sold' },
  cancelled: { from: ['placed', 'approved'], petStatus: 'available' },
};
