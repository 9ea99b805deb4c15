/** The operations on orders. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { PATCH_TYPES } from '../http/body.ts';
import { sendPage } from '../http/paging.ts';
import { sendCreated, sendJson } from '../http/responses.ts';
import { runQueries } from '../http/run-queries.ts';
import { CREATE_ADVICE } from '../http/unavailable.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { operation } from '../operation.ts';
import { petNotFound } from '../pets/errors.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import * as queries from './queries.ts';
import { NewOrder, OrderPatch, OrderPath, OrderQuery } from './schemas.ts';

export const orders = new Hono<AppEnv>()
  .get(
    '/store/orders',
    operation({ operationId: 'listOrders', scope: 'read', query: OrderQuery }),
    async (c) => {
      const query = c.req.valid('query');
      const { page } = await runQueries(c, queries.listOrders(query));
      return sendPage(c, page, query);
    },
  )
  .post(
    '/store/orders',
    operation({
      operationId: 'placeOrder',
      scope: 'write',
      json: NewOrder,
      acceptsIdempotencyKey: true,
      effect: 'the order was placed',
      retryAdvice: CREATE_ADVICE,
    }),
    async (c) => {
      const newOrder = c.req.valid('json');
      const { created, read: pet } = await createOnce(c, queries.placeOrder, newOrder);
      if (created) return sendCreated(c, created);
      // A pet that exists was not available: for example, another client's order came first.
      throw pet ? petNotAvailable(newOrder.petId, pet.status) : petNotFound(newOrder.petId);
    },
  )
  .get(
    '/store/orders/:orderId',
    operation({ operationId: 'getOrder', scope: 'read', param: OrderPath }),
    async (c) => {
      const { orderId } = c.req.valid('param');
      const { order } = await runQueries(c, queries.getOrder(orderId));
      if (!order) throw orderNotFound(orderId);
      return sendJson(c, order.json);
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
      effect: 'the order was changed',
      retryAdvice: 'A retry is safe: setting the current status again changes nothing.',
    }),
    async (c) => {
      const { orderId } = c.req.valid('param');
      const { status } = c.req.valid('json');
      const { updated, order } = await runQueries(c, queries.updateOrder(orderId, status));
      if (updated) return sendJson(c, updated.json);
      if (!order) throw orderNotFound(orderId);
      // Setting the current status again succeeds and changes nothing, so that a retry is harmless.
      if (order.status === status) return sendJson(c, order.json);
      throw invalidTransition(order.status, status);
    },
  );
