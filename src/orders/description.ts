import * as z from 'zod/mini';
import { int64 } from '../http/int64.ts';
import type { ResourceDescription } from '../operation/resource-description.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import { NewOrder, type Order, OrderPatch, OrderPath, OrderQuery, OrderStatus } from './schemas.ts';

const ORDER = { id: 5, petId: 1, status: 'placed', placedAt: '2026-11-20T09:30:00.000Z' };

OrderStatus.register(z.globalRegistry, {
  id: 'OrderStatus',
  description: 'An order is open while it is placed or approved.',
});
NewOrder.register(z.globalRegistry, {
  id: 'NewOrder',
  description: 'An order to place.',
  examples: [{ petId: ORDER.petId }],
});
NewOrder.shape.petId.register(z.globalRegistry, {
  description: 'Identifier of the animal to order.',
});
OrderPatch.register(z.globalRegistry, {
  id: 'OrderPatch',
  description: 'The new status of the order.',
  examples: [{ status: 'approved' }],
});

const OrderBody = z
  .object({
    id: int64().register(z.globalRegistry, {
      description: 'Identifier of the order, assigned by the service.',
    }),
    petId: int64().register(z.globalRegistry, { description: 'Identifier of the animal.' }),
    status: OrderStatus,
    placedAt: z.iso.datetime({ precision: 3 }).register(z.globalRegistry, {
      description: 'The time of the order, in UTC (RFC 3339).',
    }),
  })
  .register(z.globalRegistry, {
    id: 'Order',
    description: 'An order of an animal.',
    examples: [ORDER],
  }) satisfies z.ZodMiniType<Order>;

const Orders = z.array(OrderBody).register(z.globalRegistry, {
  id: 'Orders',
  description: 'A page of orders, ascending by id.',
  examples: [[ORDER]],
});

OrderPath.shape.orderId.register(z.globalRegistry, {
  description: 'Identifier of the order.',
  param: { example: ORDER.id },
});
OrderQuery.shape.status.register(z.globalRegistry, {
  description: 'Returns only orders with this status.',
});

export const description: ResourceDescription = {
  tags: [
    {
      name: 'Store',
      description: 'List, place, fetch and change orders of animals.',
    },
  ],
  operations: {
    listOrders: {
      tags: ['Store'],
      summary: 'List orders',
      description:
        'Lists orders by ascending id. With `status`, only orders with that status are listed. If there is a next page, the `Link` header has its URL.',
      'x-stability': 'experimental',
      responses: { 200: { description: 'A page of orders.', schema: Orders } },
    },
    placeOrder: {
      tags: ['Store'],
      summary: 'Place an order',
      description:
        'Orders an animal whose status is `available`, and sets its status to `pending`. If several clients order the same animal at once, at most one order is placed.',
      'x-stability': 'experimental',
      requestBody: { examples: { order: { value: { petId: ORDER.petId } } } },
      responses: {
        201: { location: true, description: 'The order was placed.', schema: OrderBody },
      },
    },
    getOrder: {
      tags: ['Store'],
      summary: 'Get an order',
      description: 'An order remains after its animal is deleted.',
      'x-stability': 'experimental',
      responses: { 200: { description: 'The order.', schema: OrderBody } },
    },
    updateOrder: {
      tags: ['Store'],
      summary: 'Approve, deliver or cancel an order',
      description:
        'A placed order can be approved or cancelled, an approved order can be delivered or cancelled. Delivery sets the status of the animal to `sold`, cancellation to `available`. Setting the current status of the order again changes nothing.',
      'x-stability': 'experimental',
      requestBody: { examples: { approve: { value: { status: 'approved' } } } },
      responses: {
        200: {
          description: 'The order with its new status.',
          schema: OrderBody,
          example: { ...ORDER, status: 'approved' },
        },
      },
    },
  },
  errors: [
    petNotAvailable(1n, 'sold'),
    orderNotFound(5n),
    invalidTransition('delivered', 'cancelled'),
  ],
};
