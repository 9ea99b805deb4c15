/** The rules of an order's status. */
import type { PetStatus } from '../pets/schema.ts';
import type { OrderStatus } from './schema.ts';

/** By the new status of an order: the statuses that it can change from, and the new status of its pet. */
export const TRANSITIONS: Record<OrderStatus, { from: OrderStatus[]; petStatus?: PetStatus }> = {
  placed: { from: [] },
  approved: { from: ['placed'] },
  delivered: { from: ['approved'], petStatus: 'sold' },
  cancelled: { from: ['placed', 'approved'], petStatus: 'available' },
};

/** Setting the current status again succeeds and changes nothing, so that a retry is harmless. */
export function isNoChange(current: OrderStatus, status: OrderStatus): boolean {
  return current === status;
}
