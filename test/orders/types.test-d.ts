/** Mistakes in the route of an order that must not compile, as in test/types.test-d.ts. */
import { Hono } from 'hono';
import type { AppEnv } from '../../src/context.ts';
import { sendCreated } from '../../src/http/responses.ts';
import { createOnce } from '../../src/idempotency/create-once.ts';
import { operation } from '../../src/operation.ts';
import * as queries from '../../src/orders/queries.ts';
import { NewOrder } from '../../src/orders/schemas.ts';
import { createPet } from '../../src/pets/queries.ts';

const placeOrder = operation({
  operationId: 'placeOrder',
  scope: 'write',
  json: NewOrder,
  acceptsIdempotencyKey: true,
  effect: 'the order was placed',
  retryAdvice: 'Check before you retry.',
});
new Hono<AppEnv>().post('/', placeOrder, async (c) => {
  const newOrder = c.req.valid('json');
  // @ts-expect-error: the body belongs to another operation
  await createOnce(c, createPet, newOrder);
  const { created, read: pet } = await createOnce(c, queries.placeOrder, newOrder);
  pet?.status satisfies string | null | undefined;
  // @ts-expect-error: the query reads no name
  pet?.name;
  return created ? sendCreated(c, created) : c.notFound();
});
