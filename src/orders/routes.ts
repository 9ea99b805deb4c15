import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { PATCH_TYPES } from '../http/body.ts';
import { takePage } from '../http/paging.ts';
import { baseUrl } from '../http/urls.ts';
import { operation } from '../operation/operation.ts';
import * as queries from './queries.ts';
import { NewOrder, OrderPatch, OrderPath, OrderQuery } from './schemas.ts';

export const orders = new Hono<AppEnv>()
  .get(
    '/store/orders',
    operation({ operationId: 'listOrders', scope: 'read', query: OrderQuery }),
    async (c) => c.json(await takePage(c, '/store/orders', queries.listOrders), 200),
  )
  .post(
    '/store/orders',
    operation({
      operationId: 'placeOrder',
      scope: 'write',
      json: NewOrder,
      errors: ['pet_not_found', 'pet_not_available'],
      acceptsIdempotencyKey: true,
      effect: 'the order was placed',
    }),
    async (c) => {
      const order = await queries.placeOrder(c.get('db'), c.get('once'), c.req.valid('json'));
      return c.json(order, 201, { Location: `${baseUrl(c)}/store/orders/${order.id}` });
    },
  )
  .get(
    '/store/orders/:orderId',
    operation({
      operationId: 'getOrder',
      scope: 'read',
      param: OrderPath,
      errors: ['order_not_found'],
    }),
    async (c) => {
      const { orderId } = c.req.valid('param');
      return c.json(await queries.getOrder(c.get('db'), orderId), 200);
    },
  )
  .patch(
    '/store/orders/:orderId',
    operation({
      operationId: 'updateOrder',
      scope: 'write',
      param: OrderPath,
      json: OrderPatch,
      mediaTypes: PATCH_TYPES,
      errors: ['order_not_found', 'invalid_transition'],
      effect: 'the order was changed',
      safeRetry: 'setting the current status again changes nothing.',
    }),
    async (c) => {
      const { orderId } = c.req.valid('param');
      const { status } = c.req.valid('json');
      return c.json(await queries.updateOrder(c.get('db'), orderId, status), 200);
    },
  );
