/** Sends the operations of the model to the store, and converts its responses to answers of the model. */
import { decodeCursor, encodeCursor } from '../../src/http/cursor.ts';
import { orderList } from '../../src/orders/schema.ts';
import { petList } from '../../src/pets/schema.ts';
import type { Reply, RequestOptions, Store } from '../store.ts';
import type { Answer, Operation } from './model.ts';

/** `keys` are the API keys of the clients. `placedAt` is called with the times of orders, which the model omits. */
export async function observe(
  store: Store,
  keys: string[],
  operation: Operation,
  placedAt: (orderId: number, time: string) => void,
): Promise<Answer> {
  const [path, init] = requestOf(operation);
  const authorization = `Bearer ${keys[operation.client]}`;
  const reply = await store.fetch(path, {
    ...init,
    headers: { authorization, 'content-type': 'application/json', ...init.headers },
  });
  return answerOf(reply, placedAt);
}

function requestOf(operation: Operation): [path: string, init: RequestOptions] {
  switch (operation.name) {
    case 'listPets':
      return [`/v1/pets?${query(operation, petList.scopeOf({ status: operation.status }))}`, {}];
    case 'createPet':
      return ['/v1/pets', post(operation)];
    case 'getPet':
      return [`/v1/pets/${operation.petId}`, {}];
    case 'updatePet':
      return [
        `/v1/pets/${operation.petId}`,
        { method: 'PATCH', body: JSON.stringify(operation.patch) },
      ];
    case 'deletePet':
      return [`/v1/pets/${operation.petId}`, { method: 'DELETE' }];
    case 'listOrders':
      return [
        `/v1/store/orders?${query(operation, orderList.scopeOf({ status: operation.status }))}`,
        {},
      ];
    case 'placeOrder':
      return ['/v1/store/orders', post(operation)];
    case 'getOrder':
      return [`/v1/store/orders/${operation.orderId}`, {}];
    case 'updateOrder':
      return [
        `/v1/store/orders/${operation.orderId}`,
        { method: 'PATCH', body: JSON.stringify({ status: operation.status }) },
      ];
  }
}

function post({ body, key }: { body: object; key: string | undefined }): RequestOptions {
  return {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'idempotency-key': key ?? null },
  };
}

type Page = { status: string | undefined; limit: number; after: number | undefined };

function query({ status, limit, after }: Page, scope: string): URLSearchParams {
  const cursor = after === undefined ? undefined : encodeCursor({ scope, lastId: BigInt(after) });
  return new URLSearchParams({
    limit: String(limit),
    ...(status && { status }),
    ...(cursor && { cursor }),
  });
}

function answerOf(
  { status, headers, text }: Reply,
  placedAt: (orderId: number, time: string) => void,
): Answer {
  const body: unknown =
    text === ''
      ? undefined
      : JSON.parse(text, (_, value) => {
          if (value?.placedAt === undefined) return value;
          const { placedAt: time, ...order } = value;
          placedAt(order.id, time);
          return order;
        });
  const location = headers.get('location');
  const cursor = /cursor=([^&>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
  return {
    status,
    body,
    ...(location && { location: new URL(location).pathname }),
    ...(headers.has('idempotency-replayed') && { replayed: true }),
    ...(cursor && { next: Number(decodeCursor(cursor)?.lastId) }),
  };
}
