import * as z from 'zod/mini';
import { int64, int64Text } from '../http/int64.ts';
import { pageParameters } from '../http/paging.ts';
import { requiredOr, strictBody } from '../http/schemas.ts';

const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'] as const;

export const OrderStatus = z.enum(STATUSES, {
  error: requiredOr(`must be one of ${STATUSES.join(', ')}`),
});
export type OrderStatus = z.infer<typeof OrderStatus>;

export const NewOrder = strictBody({ petId: int64() });
export type NewOrder = z.infer<typeof NewOrder>;

/** `placedAt` is an RFC 3339 time in UTC, with milliseconds. */
export type Order = { id: bigint; status: OrderStatus; placedAt: string } & NewOrder;

export const OrderPatch = strictBody({ status: OrderStatus });

export const OrderPath = z.object({ orderId: int64Text() });

export const OrderQuery = pageParameters({ status: z.optional(OrderStatus) });
export type OrderQuery = z.infer<typeof OrderQuery>;
