/** The definitions of the operations on orders. Types are inferred from the schemas. */
import * as z from 'zod/mini';
import { JSON_TYPE, MERGE_PATCH_TYPE } from '../http/body.ts';
import { Int64, pathId, required } from '../http/int64.ts';
import { pagedList } from '../http/paging.ts';
import { lazy } from '../lazy.ts';
import type { OperationDefinition } from '../middleware/operation.ts';

const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'] as const;

export const OrderStatus = lazy(() =>
  z.enum(STATUSES, { error: required(`must be one of ${STATUSES.join(', ')}`) }),
);
export type OrderStatus = (typeof STATUSES)[number];

const error = 'must be a JSON object';

export const NewOrder = lazy(() => z.strictObject({ petId: Int64() }, { error }));
export type NewOrder = z.infer<ReturnType<typeof NewOrder>>;

export const OrderPatch = lazy(() => z.strictObject({ status: OrderStatus() }, { error }));

export const orderList = pagedList('orders', ['status'], () => ({
  status: z.optional(OrderStatus()),
}));

export const OrderPath = lazy(() => z.strictObject({ orderId: pathId() }));

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
