/** The definitions of the operations on orders. Types are inferred from the schemas. */
import * as z from 'zod/mini';
import { CREATE_ADVICE, READ_UNAVAILABLE, unknownOutcome } from '../d1/unavailable.ts';
import type { OperationDefinition } from '../definition.ts';
import { NOT_AN_OBJECT, PATCH_TYPES } from '../http/body.ts';
import { Int64, pathId, requiredOr } from '../http/int64.ts';
import { pagedList } from '../http/paging.ts';
import { lazy } from '../lazy.ts';

const STATUSES = ['placed', 'approved', 'delivered', 'cancelled'] as const;

export const OrderStatus = lazy(() =>
  z.enum(STATUSES, { error: requiredOr(`must be one of ${STATUSES.join(', ')}`) }),
);
export type OrderStatus = (typeof STATUSES)[number];

export const NewOrder = lazy(() => z.strictObject({ petId: Int64() }, NOT_AN_OBJECT));
export type NewOrder = z.infer<ReturnType<typeof NewOrder>>;

export const OrderPatch = lazy(() => z.strictObject({ status: OrderStatus() }, NOT_AN_OBJECT));

export const orderPages = pagedList('orders', () => ({
  status: z.optional(OrderStatus()),
}));

export const OrderPath = lazy(() => z.strictObject({ orderId: pathId() }));

export const listOrders = {
  operationId: 'listOrders',
  scope: 'read',
  query: orderPages.query,
  unavailable: READ_UNAVAILABLE,
} as const satisfies OperationDefinition;

export const placeOrder = {
  operationId: 'placeOrder',
  scope: 'write',
  json: NewOrder,
  idempotent: true,
  unavailable: unknownOutcome('whether the order was placed', CREATE_ADVICE),
} as const satisfies OperationDefinition;

export const getOrder = {
  operationId: 'getOrder',
  scope: 'read',
  param: OrderPath,
  unavailable: READ_UNAVAILABLE,
} as const satisfies OperationDefinition;

export const updateOrder = {
  operationId: 'updateOrder',
  scope: 'write',
  param: OrderPath,
  json: OrderPatch,
  mediaTypes: PATCH_TYPES,
  unavailable: unknownOutcome(
    'whether the order was changed',
    'A retry is safe: setting the current status again changes nothing.',
  ),
} as const satisfies OperationDefinition;
