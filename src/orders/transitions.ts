/** The rules of an order's status. */
import type { OrderStatus } from './schema.ts';

/**
 * The statuses from which an order can change to a status, and the status that its pet then gets. Setting the current
 * status again is allowed, and changes nothing, so that a retry is harmless.
 */
export const TRANSITIONS: Record<OrderStatus, { from: OrderStatus[]; petStatus?: string }> = {
  placed: { from: [] },
  approved: { from: ['placed'] },
  delivered: { from: ['approved'], petStatus: 'sold' },
  cancelled: { from: ['placed', 'approved'], petStatus: 'available' },
};
