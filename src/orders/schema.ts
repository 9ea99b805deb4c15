/** The shapes of orders, and what their operations accept. Types are inferred from these schemas. */
import * as z from 'zod/mini';
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../http/body.ts';
import { Int64, pathId, required } from '../http/int64.ts';
import { pagedList } from '../http/paging.ts';
import type { OperationDefinition } from '../middleware/operation.ts';

const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'] as const;

export const OrderStatus = z.enum(STATUSES, {
  error: required(`must be one of ${STATUSES.join(', ')}`),
});
export type OrderStatus = z.infer<typeof OrderStatus>;

const error = 'must be a JSON object';

export const NewOrder = z.strictObject({ petId: Int64 }, { error });
export type NewOrder = z.infer<typeof NewOrder>;

export const OrderPatch = z.strictObject({ status: OrderStatus }, { error });

/** An order as it is returned. `placedAt` is a time in UTC (RFC 3339). */
export const Order = z.looseObject({
  id: Int64,
  petId: Int64,
  status: OrderStatus,
  placedAt: z.iso.datetime(),
});

export const Orders = z.array(Order);

export const orderList = pagedList('orders', { status: OrderStatus });

export const OrderPath = z.strictObject({ orderId: pathId() });

export const listOrders = {
  operationId: 'listOrders',
  scope: 'read',
  query: orderList.query,
} as const satisfies OperationDefinition;

export const placeOrder = {
  operationId: 'placeOrder',
  scope: 'write',
  json: NewOrder,
  idempotent: true,
} as const satisfies OperationDefinition;

export const getOrder = {
  operationId: 'getOrder',
  scope: 'read',
  param: OrderPath,
} as const satisfies OperationDefinition;

export const updateOrder = {
  operationId: 'updateOrder',
  scope: 'write',
  param: OrderPath,
  json: OrderPatch,
  mediaTypes: [JSON_TYPE, MERGE_PATCH_TYPE],
} as const satisfies OperationDefinition;
