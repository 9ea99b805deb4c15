/** The operations on orders. */
import { zValidator } from '@hono/zod-validator';
import { Hono } from 'hono';
import type { AppEnv } from '../context.ts';
import { idempotencyKeyOf, replay } from '../d1/idempotency.ts';
import { run } from '../d1/run.ts';
import { readBody } from '../http/body.ts';
import { sendPage } from '../http/paging.ts';
import { sendBody, sendCreated } from '../http/responses.ts';
import { rejectInvalid } from '../http/validate.ts';
import { operation } from '../operation.ts';
import { petNotFound } from '../pets/errors.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import * as queries from './queries.ts';
import { getOrder, listOrders, placeOrder, updateOrder } from './schema.ts';

export const orders = new Hono<AppEnv>();

orders.get(
  '/store/orders',
  operation(listOrders),
  zValidator('query', listOrders.query, rejectInvalid),
  async (c) => {
    const parameters = c.req.valid('query');
    const { page } = await run(c, queries.listOrders(parameters));
    return sendPage(c, parameters, page);
  },
);

orders.post(
  '/store/orders',
  operation(placeOrder),
  readBody,
  zValidator('json', placeOrder.json, rejectInvalid),
  async (c) => {
    const newOrder = c.req.valid('json');
    const { petId } = newOrder;
    const idempotencyKey = await idempotencyKeyOf(c, newOrder);
    const { created, firstResponse, pet } = await run(c, queries.placeOrder(petId, idempotencyKey));
    const order = created ?? replay(c, idempotencyKey, firstResponse);
    if (order) return sendCreated(c, order);
    throw pet ? petNotAvailable(petId, pet.status) : petNotFound(petId);
  },
);

orders.get(
  '/store/orders/:orderId',
  operation(getOrder),
  zValidator('param', getOrder.param, rejectInvalid),
  async (c) => {
    const { orderId } = c.req.valid('param');
    const { order } = await run(c, queries.getOrder(orderId));
    if (!order) throw orderNotFound(orderId);
    return sendBody(c, order.body);
  },
);

orders.patch(
  '/store/orders/:orderId',
  operation(updateOrder),
  zValidator('param', updateOrder.param, rejectInvalid),
  readBody,
  zValidator('json', updateOrder.json, rejectInvalid),
  async (c) => {
    const { orderId } = c.req.valid('param');
    const { status } = c.req.valid('json');
    const { changed, order } = await run(c, queries.changeOrder(orderId, status));
    if (changed) return sendBody(c, changed.body);
    if (!order) throw orderNotFound(orderId);
    // Setting the current status again succeeds and changes nothing, so that a retry is harmless.
    if (order.status === status) return sendBody(c, order.body);
    throw invalidTransition(order.status, status);
  },
);
