/** What the description says of orders. */
import { INT64_PROBLEM } from '../http/int64.ts';
import { LIMIT, LIMIT_PROBLEM } from '../http/paging.ts';
import { BODY, describe, type ResourceDescription } from '../openapi/describe.ts';
import { location, nextPage } from '../openapi/headers.ts';
import { as, describeCursor, describeSchema, open } from '../openapi/schemas.ts';
import { petNotFound } from '../pets/errors.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import {
  getOrder,
  listOrders,
  NewOrder,
  Order,
  OrderPatch,
  OrderStatus,
  Orders,
  orderList,
  placeOrder,
  updateOrder,
} from './schema.ts';

const ORDER = { id: 5, petId: 7, status: 'placed', placedAt: '2026-11-20T09:30:00.000Z' };

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
  description: 'The status to move the order to.',
  examples: [{ status: 'approved' }],
});
describeSchema(Order, {
  id: 'Order',
  description: 'An order of an animal.',
  override: open,
  examples: [ORDER],
});
describeSchema(Order.shape.placedAt, {
  override: as({ type: 'string', format: 'date-time' }),
  description: 'When the order was placed, in UTC (RFC 3339).',
});
describeSchema(Orders, {
  id: 'Orders',
  description: 'A page of orders, ascending by id.',
  override: { maxItems: LIMIT.maximum },
  examples: [[ORDER]],
});

describeCursor(orderList.query);
describeSchema(orderList.query.shape.status, {
  description: 'Returns only orders with this status.',
});

export const resource: ResourceDescription = {
  tags: [{ name: 'Store', description: 'Orders of animals.' }],
  schemas: { OrderStatus, NewOrder, OrderPatch, Order, Orders },
  paths: {
    '/store/orders': {
      get: describe(listOrders, {
        tag: 'Store',
        summary: 'List orders',
        description: 'Ascending by id, optionally of one status. Pages are those of `listPets`.',
        stability: 'experimental',
        invalid: `limit: ${LIMIT_PROBLEM}; stauts: is not a known parameter, did you mean status?`,
        success: {
          status: 200,
          description: 'A page of orders.',
          schema: Orders,
          example: [ORDER],
          headers: nextPage('/store/orders'),
        },
      }),
      post: describe(placeOrder, {
        tag: 'Store',
        summary: 'Place an order',
        description:
          'Orders an animal whose status is `available`, and makes it `pending`. Of concurrent orders of one animal, exactly one is placed.',
        stability: 'experimental',
        body: { description: BODY, examples: { order: { value: { petId: ORDER.petId } } } },
        invalid: `petId: ${INT64_PROBLEM}`,
        success: {
          status: 201,
          description: 'The order was placed.',
          schema: Order,
          example: ORDER,
          headers: location('/store/orders'),
        },
        errors: [petNotFound(7n), petNotAvailable(7n, 'sold')],
      }),
    },
    '/store/orders/{orderId}': {
      get: describe(getOrder, {
        tag: 'Store',
        summary: 'Get an order',
        description: 'An order outlives its animal.',
        stability: 'experimental',
        invalid: `orderId: ${INT64_PROBLEM}`,
        success: { status: 200, description: 'The order.', schema: Order, example: ORDER },
        errors: [orderNotFound(5n)],
      }),
      patch: describe(updateOrder, {
        tag: 'Store',
        summary: 'Approve, deliver or cancel an order',
        description:
          'A placed order can be approved, an approved one delivered, and either cancelled. Delivering makes the animal `sold`, cancelling makes it `available` again. Setting the status that the order already has changes nothing.',
        stability: 'experimental',
        body: { description: BODY, examples: { approve: { value: { status: 'approved' } } } },
        invalid: 'status: must be one of placed, approved, delivered, cancelled',
        success: {
          status: 200,
          description: 'The order, with the status.',
          schema: Order,
          example: { ...ORDER, status: 'approved' },
        },
        errors: [orderNotFound(5n), invalidTransition('delivered', 'cancelled')],
      }),
    },
  },
};
