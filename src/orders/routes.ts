/** The operations on orders. */
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import * as z from 'zod/mini';
import { runQuery } from '../d1/database.ts';
import { createOncePerKey } from '../d1/idempotency/create.ts';
import type { AppEnv } from '../env.ts';
import { operation } from '../http/operation.ts';
import { sendPage } from '../http/paging.ts';
import { sendCreated, sendJson } from '../http/responses.ts';
import { rejectInvalid } from '../http/validate.ts';
import { petNotFound } from '../pets/errors.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import * as queries from './queries.ts';
import { getOrder, listOrders, orderPages, placeOrder, updateOrder } from './schema.ts';
import { isNoChange } from './transitions.ts';

export const orders = new Hono<AppEnv>();

orders.get(
  '/store/orders',
  operation(listOrders),
  zValidator('query', z.lazy(listOrders.query), rejectInvalid),
  async (c) => {
    const query = c.req.valid('query');
    const page = await runQuery(c, (db) => queries.selectOrders(db, query));
    return sendPage(c, orderPages, query, page);
  },
);

orders.post(
  '/store/orders',
  operation(placeOrder),
  zValidator('json', z.lazy(placeOrder.json), rejectInvalid),
  async (c) => {
    const newOrder = c.req.valid('json');
    const { petId } = newOrder;
    const order = await createOncePerKey(c, {
      body: newOrder,
      insert: (db) => queries.insertOrder(db, petId),
      insertOnce: (db, request, attempt) => queries.insertOrderOnce(db, petId, request, attempt),
    });
    if (order && order.json !== null) return sendCreated(c, order);
    throw order?.pet_exists ? petNotAvailable(petId, order.pet_status) : petNotFound(petId);
  },
);

orders.get(
  '/store/orders/:orderId',
  operation(getOrder),
  zValidator('param', z.lazy(getOrder.param), rejectInvalid),
  async (c) => {
    const { orderId } = c.req.valid('param');
    const order = await runQuery(c, (db) => queries.selectOrder(db, orderId));
    if (!order) throw orderNotFound(orderId);
    return sendJson(c, order.json);
  },
);

orders.patch(
  '/store/orders/:orderId',
  operation(updateOrder),
  zValidator('param', z.lazy(updateOrder.param), rejectInvalid),
  zValidator('json', z.lazy(updateOrder.json), rejectInvalid),
  async (c) => {
    const { orderId } = c.req.valid('param');
    const { status } = c.req.valid('json');
    const change = await runQuery(c, (db, attempt) =>
      queries.changeOrder(db, orderId, status, attempt),
    );
    if (change && change.response !== null) return sendJson(c, change.response);
    if (!change || change.current === null) throw orderNotFound(orderId);
    if (isNoChange(change.current_status, status)) return sendJson(c, change.current);
    throw invalidTransition(change.current_status, status);
  },
);
