/** From an operation of the description to a request, and from its answer to a typed result. */
import type { operations, paths } from '../schema.d.ts';
import { requireBigInt, stringifyJson } from './json.ts';
import type { Metadata } from './metadata.ts';
import { type CallOptions, type Outgoing, send } from './send.ts';

export type Operation = keyof operations;

type Method = Outgoing['method'];
/** The method and path under which the description has the operation. */
type Route<O extends Operation> = {
  [P in keyof paths]: {
    [M in Method]: paths[P][Lowercase<M>] extends operations[O] ? readonly [M, P] : never;
  }[Method];
}[keyof paths];

/** The compiler compares these with the description: one that is missing, or too many, is an error. */
const ROUTES: { readonly [O in Operation]: Route<O> } = {
  listPets: ['GET', '/pets'],
  createPet: ['POST', '/pets'],
  getPet: ['GET', '/pets/{petId}'],
  updatePet: ['PATCH', '/pets/{petId}'],
  deletePet: ['DELETE', '/pets/{petId}'],
  listOrders: ['GET', '/store/orders'],
  placeOrder: ['POST', '/store/orders'],
  getOrder: ['GET', '/store/orders/{orderId}'],
  updateOrder: ['PATCH', '/store/orders/{orderId}'],
  getHealth: ['GET', '/health'],
};

/**
 * The one that could be done twice. Creates have an Idempotency-Key; a repeated updateOrder changes nothing
 * or is refused; ids are never used again. But an updatePet that is sent again overwrites what others did in
 * between: it could make an animal available that has been sold.
 */
const NOT_REPEATABLE: Operation = 'updatePet';

type Responses<O extends Operation> = operations[O]['responses'];
type Success<R> = R extends { 200: infer S } | { 201: infer S } ? S : { content?: never };
export type ResultOf<O extends Operation> =
  Success<Responses<O>> extends { content: { 'application/json': infer T } } ? T : undefined;

export type BodyOf<O extends Operation> = operations[O] extends {
  requestBody: { content: { 'application/json': infer T } };
}
  ? T
  : never;

export type Input<O extends Operation> = {
  id?: bigint;
  query?: object | undefined;
  /** The address of a page, in place of the operation's own. */
  page?: string | undefined;
  body?: BodyOf<O>;
};

export type Connection = {
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
  defaults: CallOptions;
  /** In a session: what it begins with, and the newest that came with an answer, or ''. */
  bookmark?: { start: string; newest: string };
};

export type CreateOptions = CallOptions & {
  /** Default: a random one for each call. With one of yours, a call can be made again later. */
  idempotencyKey?: string | undefined;
};

export type Reply<T> = { data: T; metadata: Metadata };

/** @throws StoreError, or a TypeError about an argument */
export async function run<O extends Operation>(
  { baseUrl, apiKey, fetch, defaults, bookmark }: Connection,
  operation: O,
  { id, query = {}, page, body }: Input<O>,
  { idempotencyKey = randomKey(), ...options }: CreateOptions = {},
): Promise<Reply<ResultOf<O>>> {
  const [method, route] = ROUTES[operation];
  const path = route.replace(/\{(\w+)\}/, (_, name) => {
    requireBigInt(name, id);
    return String(id);
  });
  const headers = new Headers({ Authorization: `Bearer ${apiKey}` });
  if (body) headers.set('Content-Type', 'application/json');
  if (method === 'POST') headers.set('Idempotency-Key', idempotencyKey);
  if (bookmark) headers.set('X-D1-Bookmark', bookmark.newest || bookmark.start);

  const { body: data, metadata } = await send(
    fetch,
    {
      url: addressOf(baseUrl + path, query, page),
      method,
      headers,
      body: body ? stringifyJson(body) : null,
      isRepeatable: operation !== NOT_REPEATABLE,
      onHeaders(received) {
        // Answers of concurrent requests come in any order; bookmarks sort by age:
        // https://developers.cloudflare.com/d1/reference/time-travel/
        const other = received.get('X-D1-Bookmark') ?? '';
        if (bookmark && other > bookmark.newest) bookmark.newest = other;
      },
    },
    { ...defaults, ...options },
  );
  // The service's own tests compare every response with the description.
  return { data: data as ResultOf<O>, metadata };
}

/** @throws TypeError when the page's address is not one of the operation: it would be sent the API key. */
function addressOf(operation: string, query: object, page: string | undefined): string {
  const url = new URL(page ?? operation);
  if (page !== undefined) {
    if (url.origin + url.pathname !== new URL(operation).href)
      throw new TypeError(`The next page is not one of ${operation}: ${page}`);
    return page;
  }
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}

/** `crypto.randomUUID` is missing in pages that were not loaded over https. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
