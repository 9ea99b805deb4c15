/** The definitions of the operations on orders. Types are inferred from the schemas. */
import * as z from 'zod/mini';
import type { OperationDefinition } from '../definition.ts';
import { PATCH_TYPES } from '../http/body.ts';
import { Int64, Int64Text } from '../http/int64.ts';
import { pageParameters } from '../http/paging.ts';
import { requiredOr, strictBody } from '../http/schemas.ts';
import { CREATE_ADVICE } from '../http/unavailable.ts';

const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'] as const;

export const OrderStatus = z.enum(STATUSES, {
  error: requiredOr(`must be one of ${STATUSES.join(', ')}`),
});
export type OrderStatus = z.infer<typeof OrderStatus>;

export const NewOrder = strictBody({ petId: Int64 });
export type NewOrder = z.infer<typeof NewOrder>;

export const OrderPatch = strictBody({ status: OrderStatus });

const OrderPath = z.strictObject({ orderId: Int64Text });

export const listOrders = {
  operationId: 'listOrders',
  scope: 'read',
  query: pageParameters({ status: z.optional(OrderStatus) }),
} as const satisfies OperationDefinition;
export type OrderListParameters = z.infer<typeof listOrders.query>;

export const placeOrder = {
  operationId: 'placeOrder',
  scope: 'write',
  json: NewOrder,
  acceptsIdempotencyKey: true,
  effect: 'the order was placed',
  retryAdvice: CREATE_ADVICE,
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
  mediaTypes: PATCH_TYPES,
  effect: 'the order was changed',
  retryAdvice: 'A retry is safe: setting the current status again changes nothing.',
} as const satisfies OperationDefinition;
