/** The operations on orders. */
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { sendPage } from '../http/paging.ts';
import { sendCreated, sendJson } from '../http/responses.ts';
import { runQueries } from '../http/run-queries.ts';
import { createOnce } from '../idempotency/create-once.ts';
import { operation } from '../operation.ts';
import { petNotFound } from '../pets/errors.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import { getOrder, listOrders, placeOrder, updateOrder } from './operations.ts';
import * as queries from './queries.ts';

export const orders = new Hono<AppEnv>();

orders.get('/store/orders', operation(listOrders), async (c) => {
  const query = c.req.valid('query');
  const { page } = await runQueries(c, queries.listOrders(query));
  return sendPage(c, page, query);
});

orders.post('/store/orders', operation(placeOrder), async (c) => {
  const newOrder = c.req.valid('json');
  const { created, pet } = await createOnce(c, queries.placeOrder, newOrder);
  if (created) return sendCreated(c, created);
  // A pet that exists was not available: for example, another client's order came first.
  throw pet ? petNotAvailable(newOrder.petId, pet.status) : petNotFound(newOrder.petId);
});

orders.get('/store/orders/:orderId', operation(getOrder), async (c) => {
  const { orderId } = c.req.valid('param');
  const { order } = await runQueries(c, queries.getOrder(orderId));
  if (!order) throw orderNotFound(orderId);
  return sendJson(c, order.json);
});

orders.patch('/store/orders/:orderId', operation(updateOrder), async (c) => {
  const { orderId } = c.req.valid('param');
  const { status } = c.req.valid('json');
  const { updated, order } = await runQueries(c, queries.updateOrder(orderId, status));
  if (updated) return sendJson(c, updated.json);
  if (!order) throw orderNotFound(orderId);
  // Setting the current status again succeeds and changes nothing, so that a retry is harmless.
  if (order.status === status) return sendJson(c, order.json);
  throw invalidTransition(order.status, status);
});
