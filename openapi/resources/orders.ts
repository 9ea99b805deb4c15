/** The description of the operations on orders. */
import * as z from 'zod/mini';
import { Int64 } from '../../src/http/int64.ts';
import { LIMIT } from '../../src/http/paging.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from '../../src/orders/errors.ts';
import {
  getOrder,
  listOrders,
  NewOrder,
  OrderPatch,
  OrderStatus,
  placeOrder,
  updateOrder,
} from '../../src/orders/operations.ts';
import { petNotFound } from '../../src/pets/errors.ts';
import { BODY_DESCRIPTION, describeOperation, type ResourceDescription } from '../describe.ts';
import { LOCATION, NEXT_PAGE } from '../headers.ts';
import { allowUnknownFields, describeFilter, describeSchema, describeTime } from '../schemas.ts';

/** `placedAt` is a time in UTC (RFC 3339). */
const Order = z.looseObject({
  id: Int64,
  petId: Int64,
  status: OrderStatus,
  placedAt: z.iso.datetime(),
});
const Orders = z.array(Order);

const ORDER = { id: 5, petId: 1, status: 'placed', placedAt: '2026-11-20T09:30:00.000Z' };

describeSchema(OrderStatus, {
  id: 'OrderStatus',
  description: 'An order is open while it is placed or approved.',
});
describeSchema(NewOrder, {
  id: 'NewOrder',
  description: 'An order to place.',
  examples: [{ petId: ORDER.petId }],
});
describeSchema(OrderPatch, {
  id: 'OrderPatch',
  description: 'The new status of the order.',
  examples: [{ status: 'approved' }],
});
describeSchema(Order, {
  id: 'Order',
  description: 'An order of an animal.',
  override: allowUnknownFields,
  examples: [ORDER],
});
describeTime(Order.shape.placedAt);
describeSchema(Orders, {
  id: 'Orders',
  description: 'A page of orders, ascending by id.',
  override: { minItems: 0, maxItems: LIMIT.maximum },
  examples: [[ORDER]],
});

describeFilter(listOrders.query.shape.status, 'Returns only orders with this status.');

export const resource: ResourceDescription = {
  tags: [{ name: 'Store', description: 'Orders of animals.' }],
  schemas: {
    OrderStatus,
    NewOrder,
    OrderPatch,
    Order,
    Orders,
  },
  parameters: { orderId: 'Identifier of the order.' },
  fields: {
    NewOrder: { petId: 'Identifier of the animal to order.' },
    Order: {
      id: 'Identifier of the order, assigned by the service.',
      petId: 'Identifier of the animal.',
      placedAt: 'The time of the order, in UTC (RFC 3339).',
    },
  },
  paths: {
    '/store/orders': {
      get: describeOperation(listOrders, {
        tag: 'Store',
        summary: 'List orders',
        description:
          'Lists orders by ascending id, optionally only those with one status. Paging works as in `listPets`.',
        stability: 'experimental',
        invalid: { query: { limit: '0', stauts: 'placed' } },
        success: {
          status: 200,
          description: 'A page of orders.',
          schema: Orders,
          example: [ORDER],
          headers: NEXT_PAGE,
        },
      }),
      post: describeOperation(placeOrder, {
        tag: 'Store',
        summary: 'Place an order',
        description:
          'Orders an animal whose status is `available` and sets its status to `pending`. If several clients order the same animal at once, exactly one order is placed.',
        stability: 'experimental',
        body: {
          description: BODY_DESCRIPTION,
          examples: { order: { value: { petId: ORDER.petId } } },
        },
        invalid: { json: { petId: 'seven' } },
        success: {
          status: 201,
          description: 'The order was placed.',
          schema: Order,
          example: ORDER,
          headers: LOCATION,
        },
        errors: [petNotFound(1n), petNotAvailable(1n, 'sold')],
      }),
    },
    '/store/orders/{orderId}': {
      get: describeOperation(getOrder, {
        tag: 'Store',
        summary: 'Get an order',
        description: 'An order remains after its animal is deleted.',
        stability: 'experimental',
        invalid: { param: { orderId: 'five' } },
        success: { status: 200, description: 'The order.', schema: Order, example: ORDER },
        errors: [orderNotFound(5n)],
      }),
      patch: describeOperation(updateOrder, {
        tag: 'Store',
        summary: 'Approve, deliver or cancel an order',
        description:
          'A placed order can be approved, an approved order delivered, and either cancelled. Delivering sets the status of the animal to `sold`, cancelling sets it to `available`. Setting the current status of the order again changes nothing.',
        stability: 'experimental',
        body: {
          description: BODY_DESCRIPTION,
          examples: { approve: { value: { status: 'approved' } } },
        },
        invalid: { param: { orderId: 'five' } },
        success: {
          status: 200,
          description: 'The order with its new status.',
          schema: Order,
          example: { ...ORDER, status: 'approved' },
        },
        errors: [orderNotFound(5n), invalidTransition('delivered', 'cancelled')],
      }),
    },
  },
};
