/** Turns a call of an operation into a request, and the response into a typed result. */
import type { operations, paths } from '../schema.d.ts';
import type { Outgoing, Reply } from './attempt.ts';
import { StoreError } from './error.ts';
import { requireBigInt, requireBigInts, stringifyJson } from './json.ts';
import {
  type CallOptions,
  type CreateOptions,
  checkApiKey,
  checkLimits,
  type StoreOptions,
} from './options.ts';
import { send } from './send.ts';
import { VERSION } from './version.ts';

export type Operation = keyof operations;

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
type Success<R> = R extends { 200: infer S } | { 201: infer S } ? S : { content?: never };
export type ResultOf<O extends Operation> =
  Success<operations[O]['responses']> extends { content: { 'application/json': infer T } }
    ? T
    : undefined;

/** What the description says of an operation, and whether it is safe to repeat. */
type Definition<O extends Operation> = {
  request: {
    [P in keyof paths]: {
      [M in Method]: paths[P][Lowercase<M>] extends operations[O] ? `${M} ${P}` : never;
    }[Method];
  }[keyof paths];
  returns: ResultOf<O> extends undefined
    ? 'none'
    : ResultOf<O> extends readonly unknown[]
      ? 'array'
      : 'object';
  unanswered: Outgoing['unanswered'];
};

/** The compiler compares these with the description, and names a missing operation. */
const OPERATIONS: { readonly [O in Operation]: Definition<O> } = {
  // Reads change nothing.
  listPets: { request: 'GET /pets', returns: 'array', unanswered: 'repeat' },
  getPet: { request: 'GET /pets/{petId}', returns: 'object', unanswered: 'repeat' },
  listOrders: { request: 'GET /store/orders', returns: 'array', unanswered: 'repeat' },
  getOrder: { request: 'GET /store/orders/{orderId}', returns: 'object', unanswered: 'repeat' },
  getHealth: { request: 'GET /health', returns: 'object', unanswered: 'repeat' },
  // Creates carry an Idempotency-Key: a repetition gets the first response.
  createPet: { request: 'POST /pets', returns: 'object', unanswered: 'repeat' },
  placeOrder: { request: 'POST /store/orders', returns: 'object', unanswered: 'repeat' },
  // An order never returns to an earlier status: a repetition changes nothing, or is rejected.
  updateOrder: {
    request: 'PATCH /store/orders/{orderId}',
    returns: 'object',
    unanswered: 'repeat',
  },
  // Ids are never reused: a repetition deletes this animal, or finds none.
  deletePet: { request: 'DELETE /pets/{petId}', returns: 'none', unanswered: 'repeat' },
  // A repetition overwrites what other clients changed in between, for example makes a sold animal available.
  updatePet: { request: 'PATCH /pets/{petId}', returns: 'object', unanswered: 'fail' },
};

export type BodyOf<O extends Operation> = operations[O] extends {
  requestBody: { content: { 'application/json': infer T } };
}
  ? T
  : never;

export type Input<O extends Operation> = {
  id?: bigint;
  /** The query, with its question mark. */
  query?: string;
  body?: BodyOf<O>;
};

export type Connection = Pick<StoreOptions, 'baseUrl' | 'apiKey'> & {
  fetch: typeof fetch;
  defaults: CallOptions;
  session?: {
    /** Replaced when the session restarts. Requests in flight keep the old one. */
    bookmark: Bookmark;
  };
};

/** Where a session starts, and the newest bookmark of its responses, or ''. */
export type Bookmark = { start: string; newest: string };

/** @throws StoreError, or a TypeError about an argument */
export async function run<O extends Operation>(
  { baseUrl, apiKey, fetch, defaults, session }: Connection,
  operation: O,
  { id, query = '', body }: Input<O>,
  options: CreateOptions = {},
): Promise<Reply<ResultOf<O>>> {
  checkLimits(options);
  const { request, returns, unanswered } = OPERATIONS[operation];
  const [method = '', route = ''] = request.split(' ');
  const path = route.replace(/{(.+)}/, (_, name) => {
    requireBigInt(name, id);
    return String(id);
  });
  if (body) requireBigInts(body);

  const key = typeof apiKey === 'function' ? await apiKey() : apiKey;
  checkApiKey(key);
  const headers = new Headers();
  // A browser sends its own, and its preflight would forbid another.
  if (typeof navigator === 'undefined' || !navigator.userAgent?.startsWith('Mozilla/'))
    headers.set('User-Agent', `animal-store-client/${VERSION}`);
  for (const [name, value] of Object.entries({ ...defaults.headers, ...options.headers }))
    headers.set(name, value);
  headers.set('Authorization', `Bearer ${key}`);
  if (body) headers.set('Content-Type', 'application/json');
  if (method === 'POST') headers.set('Idempotency-Key', options.idempotencyKey ?? randomKey());
  const bookmark = session?.bookmark;
  if (bookmark) headers.set('X-D1-Bookmark', bookmark.newest || bookmark.start);

  const json = body ? stringifyJson(body) : null;
  try {
    const reply = await send(
      { fetch, url: baseUrl + path + query, method, headers, body: json, returns, unanswered },
      signalsOf(defaults, options),
      {
        deadlineMs: options.deadlineMs ?? defaults.deadlineMs,
        attemptTimeoutMs: options.attemptTimeoutMs ?? defaults.attemptTimeoutMs,
        maxAttempts: options.maxAttempts ?? defaults.maxAttempts,
      },
    );
    remember(bookmark, reply.metadata.headers);
    // The service's own tests compare every response with the description.
    return reply as Reply<ResultOf<O>>;
  } catch (error) {
    if (error instanceof StoreError) remember(bookmark, error.metadata?.headers);
    // The write may be newer than every received bookmark: only the primary certainly has it.
    if (session && !(error instanceof StoreError && !error.outcomeUnknown))
      session.bookmark = { start: 'first-primary', newest: '' };
    throw error;
  }
}

/** Bookmarks sort by age: https://developers.cloudflare.com/d1/reference/time-travel/ */
function remember(bookmark: Bookmark | undefined, headers: Headers | undefined): void {
  const received = headers?.get('X-D1-Bookmark') ?? '';
  // Concurrent responses arrive in any order.
  if (bookmark && received > bookmark.newest) bookmark.newest = received;
}

/** The signals that end a call. */
export function signalsOf(...options: (CallOptions | undefined)[]): AbortSignal[] {
  return options.map((each) => each?.signal).filter((signal) => !!signal);
}

/** `crypto.randomUUID` is missing in pages that were loaded over http. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('');
}
