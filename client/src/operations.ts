/** Turns a call of an operation into a request, and the response into a typed result. */
import type { operations, paths } from '../schema.d.ts';
import { StoreError } from './error.ts';
import { requireBigInt, stringifyJson } from './json.ts';
import { type Metadata, nextLink } from './metadata.ts';
import { type CallOptions, type Outgoing, send } from './send.ts';

export type Operation = keyof operations;

type Method = Outgoing['method'];
/** The method and path of the operation in the description. */
type Route<O extends Operation> = {
  [P in keyof paths]: {
    [M in Method]: paths[P][Lowercase<M>] extends operations[O] ? readonly [M, P] : never;
  }[Method];
}[keyof paths];

/** The compiler compares these with the description: a missing or extra one is an error. */
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
 * Not retried after a 5xx or no response: a repeated updatePet overwrites changes that other clients made in between, for
 * example makes a sold animal available. All others are safe: creates carry an Idempotency-Key, a repeated
 * updateOrder changes nothing or is rejected, and ids are never reused.
 */
const NOT_REPEATABLE: Operation = 'updatePet';

type Responses<O extends Operation> = operations[O]['responses'];
type Success<R> = R extends { 200: infer S } | { 201: infer S } ? S : { content?: never };
export type ResultOf<O extends Operation> =
  Success<Responses<O>> extends { content: { 'application/json': infer T } } ? T : undefined;

type ListOperation = {
  [O in Operation]: ResultOf<O> extends readonly unknown[] ? O : never;
}[Operation];
/** The compiler compares these with the description. */
const LISTS: Record<ListOperation, true> = { listPets: true, listOrders: true };

export type BodyOf<O extends Operation> = operations[O] extends {
  requestBody: { content: { 'application/json': infer T } };
}
  ? T
  : never;

export type Input<O extends Operation> = {
  id?: bigint;
  query?: object | undefined;
  /** The address of a page, which replaces the operation's own address. */
  page?: string | undefined;
  body?: BodyOf<O>;
};

export type Connection = {
  baseUrl: string;
  apiKey: string;
  fetch: typeof fetch;
  defaults: CallOptions;
  session?: {
    /** Replaced when the session restarts. Requests in flight keep the old one. */
    bookmark: Bookmark;
  };
};

/** Where a session starts, and the newest bookmark of its responses, or ''. */
export type Bookmark = { start: string; newest: string };

export type CreateOptions = CallOptions & {
  /** Default: a random key for each call. With a key of your own you can repeat the call later. */
  idempotencyKey?: string | undefined;
};

export type Reply<T> = { data: T; metadata: Metadata };

/** @throws StoreError, or a TypeError about an argument */
export async function run<O extends Operation>(
  { baseUrl, apiKey, fetch, defaults, session }: Connection,
  operation: O,
  { id, query = {}, page, body }: Input<O>,
  options: CreateOptions = {},
): Promise<Reply<ResultOf<O>>> {
  const [method, route] = ROUTES[operation];
  const path = route.replace(/\{(\w+)\}/, (_, name) => {
    requireBigInt(name, id);
    return String(id);
  });
  const headers = new Headers({ Authorization: `Bearer ${apiKey}` });
  if (body) headers.set('Content-Type', 'application/json');
  if (method === 'POST') headers.set('Idempotency-Key', options.idempotencyKey ?? randomKey());
  const bookmark = session?.bookmark;
  if (bookmark) headers.set('X-D1-Bookmark', bookmark.newest || bookmark.start);

  const { body: data, metadata } = await send(
    fetch,
    {
      url: addressOf(baseUrl + path, query, page),
      method,
      headers,
      body: body ? stringifyJson(body) : null,
      expects: method === 'DELETE' ? 'none' : operation in LISTS ? 'array' : 'object',
      isRepeatable: operation !== NOT_REPEATABLE,
      onHeaders(responseHeaders) {
        // Concurrent responses arrive in any order; bookmarks sort by age:
        // https://developers.cloudflare.com/d1/reference/time-travel/
        const received = responseHeaders.get('X-D1-Bookmark') ?? '';
        if (bookmark && received > bookmark.newest) bookmark.newest = received;
      },
    },
    {
      signals: [defaults.signal, options.signal].filter((signal) => !!signal),
      deadlineMs: options.deadlineMs ?? defaults.deadlineMs ?? 60_000,
      maxAttempts: options.maxAttempts ?? defaults.maxAttempts ?? 4,
    },
  ).catch((error) => {
    // The write may be newer than every received bookmark: only the primary certainly has it.
    if (session && error instanceof StoreError && error.outcomeUnknown)
      session.bookmark = { start: 'first-primary', newest: '' };
    throw error;
  });
  // The service's own tests compare every response with the description.
  return { data: data as ResultOf<O>, metadata };
}

/**
 * The address of the next page. `Link` targets are relative to the address of the operation.
 *
 * @throws StoreError when the address does not belong to the operation
 */
export function nextPage(
  { baseUrl }: Connection,
  operation: ListOperation,
  metadata: Metadata,
): string | undefined {
  const target = nextLink(metadata.headers);
  if (target === undefined) return undefined;
  const operationUrl = baseUrl + ROUTES[operation][1];
  try {
    return addressOf(operationUrl, {}, new URL(target, operationUrl).href);
  } catch (cause) {
    const message = `The address of the next page does not belong to ${operationUrl}: ${target}`;
    throw new StoreError('invalid_response', message, { metadata, cause });
  }
}

/** @throws TypeError when the page's address does not belong to the operation: it would receive the API key. */
function addressOf(operation: string, query: object, page: string | undefined): string {
  const url = new URL(page ?? operation);
  if (page !== undefined) {
    if (url.origin + url.pathname !== new URL(operation).href)
      throw new TypeError(`The address of the page does not belong to ${operation}: ${page}`);
    return page;
  }
  for (const [name, value] of Object.entries(query))
    if (value !== undefined) url.searchParams.set(name, String(value));
  return url.href;
}

/** `crypto.randomUUID` is missing in pages that were loaded over http. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
