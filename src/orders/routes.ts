/** The operations on orders. */
import { READ, REPEATABLE_WRITE, runQuery } from '../database.ts';
import { sendPage } from '../http/paging.ts';
import { created, respond } from '../http/responses.ts';
import { create } from '../idempotency/create.ts';
import { writeRecord } from '../idempotency/header.ts';
import { operation } from '../middleware/operation.ts';
import { petNotFound } from '../pets/errors.ts';
import { createRouter } from '../router.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from './errors.ts';
import * as queries from './queries.ts';
import { getOrder, listOrders, orderList, placeOrder, updateOrder } from './schema.ts';

export const orders = createRouter();

orders.get('/store/orders', operation(listOrders), async (c) => {
  const query = c.req.valid('query');
  const page = await runQuery(c, READ, (db) => queries.selectOrders(db, query));
  return sendPage(c, orderList, query, page);
});

orders.post('/store/orders', operation(placeOrder), async (c) => {
  const body = c.req.valid('json');
  const { created: order, effects } = await create<queries.UnavailablePet>(c, {
    operationId: placeOrder.operationId,
    body,
    insertion: (db) => queries.orderInsertion(db, body),
    outcome: 'whether the order was placed',
  });
  if (order) return created(c, order);
  const pet = effects.at(-1)?.results[0];
  throw pet ? petNotAvailable(body.petId, pet.status) : petNotFound(body.petId);
});

orders.get('/store/orders/:orderId', operation(getOrder), async (c) => {
  const { orderId } = c.req.valid('param');
  const { results } = await runQuery(c, READ, (db) => queries.selectOrder(db, orderId));
  const [order] = results;
  if (!order) throw orderNotFound(orderId);
  return respond(c, 200, order.json);
});

orders.patch('/store/orders/:orderId', operation(updateOrder), async (c) => {
  const { orderId } = c.req.valid('param');
  const { status } = c.req.valid('json');
  const record = writeRecord(c, updateOrder.operationId);
  const results = await runQuery(c, REPEATABLE_WRITE, (db) =>
    queries.updateOrder(db, orderId, status, record),
  );
  const order = results.at(-1)?.results[0];
  if (!order) throw orderNotFound(orderId);
  // Setting the current status again succeeds, so that a retry is harmless.
  if (!order.is_recorded && order.status !== status) throw invalidTransition(order.status, status);
  return respond(c, 200, order.json);
});
