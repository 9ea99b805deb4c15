/** The client: one method for each operation. */
import type { Reply } from './attempt.ts';
import type { StoreError } from './error.ts';
import {
  type Connection,
  type Input,
  type Operation,
  type ResultOf,
  run,
  signalsOf,
} from './operations.ts';
import {
  type CallOptions,
  type CreateOptions,
  checkOptions,
  type StoreOptions,
} from './options.ts';
import { type Pages, pagesOf } from './pages.ts';
import type {
  Health,
  ListOrdersQuery,
  ListPetsQuery,
  NewOrder,
  NewPet,
  Order,
  OrderPatch,
  Pet,
  PetPatch,
} from './types.ts';

/** The result of a call. Rejected with a {@link StoreError}, or with a TypeError about an argument. */
export interface Call<T> extends Promise<T> {
  /**
   * The result with the response metadata.
   *
   * @example
   * const { data, metadata } = await store.createPet(rex).withMetadata();
   * console.log(data.id, metadata.requestId);
   */
  withMetadata(): Promise<Reply<T>>;
}

/** The operations of the store. Every 64-bit integer is a `bigint`. */
export interface AnimalStore {
  /**
   * Lists animals in ascending order of id, optionally with one status: all pages with `for await` (100 animals
   * in a page by default), or one page with `page()` (20 by default). Stable.
   * @example for await (const pet of store.listPets({ status: 'sold' })) console.log(pet.id, pet.name);
   */
  listPets(query?: ListPetsQuery, options?: CallOptions): Pages<Pet>;

  /**
   * Adds an animal; the service assigns its id. Stable.
   * @example const rex = await store.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   */
  createPet(pet: NewPet, options?: CreateOptions): Call<Pet>;

  /**
   * Fetches an animal. Stable.
   *
   * @deprecated It will be removed on 5 December 2030. Use `listPets` with a `status` instead.
   * @example const pet = await store.getPet(7n);
   */
  getPet(petId: bigint, options?: CallOptions): Call<Pet>;

  /**
   * Changes fields of an animal; `status: null` removes its status. Beta: may change with notice. Not retried
   * after a 5xx or no response: a repeated change could overwrite those of other clients.
   * @example const pet = await store.updatePet(7n, { name: 'Max' });
   */
  updatePet(petId: bigint, patch: PetPatch, options?: CallOptions): Call<Pet>;

  /**
   * Deletes an animal. Beta: may change with notice.
   * @example await store.deletePet(7n);
   */
  deletePet(petId: bigint, options?: CallOptions): Call<void>;

  /**
   * Lists orders in ascending order of id, optionally with one status. Experimental: may change at any time.
   * @example const { items } = await store.listOrders({ status: 'placed', limit: 10 }).page();
   */
  listOrders(query?: ListOrdersQuery, options?: CallOptions): Pages<Order>;

  /**
   * Orders an available animal. Experimental: may change at any time.
   * @example const order = await store.placeOrder({ petId: 7n });
   */
  placeOrder(order: NewOrder, options?: CreateOptions): Call<Order>;

  /**
   * Fetches an order. Experimental: may change at any time.
   * @example const { status } = await store.getOrder(5n);
   */
  getOrder(orderId: bigint, options?: CallOptions): Call<Order>;

  /**
   * Approves, delivers or cancels an order. Experimental: may change at any time.
   * @example const order = await store.updateOrder(5n, { status: 'approved' });
   */
  updateOrder(orderId: bigint, patch: OrderPatch, options?: CallOptions): Call<Order>;

  /**
   * Returns the health and the version of the service. Stable.
   * @example const { version } = await store.getHealth();
   */
  getHealth(options?: CallOptions): Call<Health>;

  /**
   * Starts a session: each request sends the newest bookmark, so that the nearest replica responds with at
   * least the state that the session has seen.
   *
   * @param start - `first-primary` (default): sees everything written before. `first-unconstrained`: even the
   *   first response comes from the nearest replica. Or the `bookmark` of an earlier session.
   * @example
   * const session = store.session();
   * await session.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   * for await (const pet of session.listPets({ status: 'available' })) console.log(pet.name);
   */
  session(start?: string): Session;
}

export interface Session extends AnimalStore {
  /** The state that the session has seen: `store.session(bookmark)` continues from it. */
  readonly bookmark: string;
}

/**
 * Creates a client of the store.
 *
 * @throws TypeError that names an invalid option
 * @example const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey });
 */
export function createAnimalStore(options: StoreOptions): AnimalStore {
  checkOptions(options);
  const { baseUrl, apiKey, fetch = globalThis.fetch, ...defaults } = options;
  return clientOf({ baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, fetch, defaults });
}

function clientOf(connection: Connection): AnimalStore {
  function call<O extends Operation>(
    operation: O,
    input: Input<O>,
    options?: CreateOptions,
  ): Call<ResultOf<O>> {
    const reply = run(connection, operation, input, options);
    const data = reply.then((received) => received.data);
    const withMetadata = () => {
      // When the call fails both promises reject, and the caller handles only the returned one.
      data.catch(() => {});
      return reply;
    };
    return Object.assign(data, { withMetadata });
  }

  function list<T>(
    fetchPage: (input: { query: string }) => Promise<Reply<T[]>>,
    query: ListPetsQuery | ListOrdersQuery = {},
    options?: CallOptions,
  ): Pages<T> {
    return pagesOf(
      (next, limit) =>
        fetchPage({ query: next ?? queryOf({ ...query, limit: query.limit ?? limit }) }),
      signalsOf(connection.defaults, options),
    );
  }

  return {
    listPets: (query, options) =>
      list((input) => run(connection, 'listPets', input, options), query, options),
    createPet: (body, options) => call('createPet', { body }, options),
    getPet: (id, options) => call('getPet', { id }, options),
    updatePet: (id, body, options) => call('updatePet', { id, body }, options),
    deletePet: (id, options) => call('deletePet', { id }, options),
    listOrders: (query, options) =>
      list((input) => run(connection, 'listOrders', input, options), query, options),
    placeOrder: (body, options) => call('placeOrder', { body }, options),
    getOrder: (id, options) => call('getOrder', { id }, options),
    updateOrder: (id, body, options) => call('updateOrder', { id, body }, options),
    getHealth: (options) => call('getHealth', {}, options),
    session: (start = 'first-primary') => sessionOf(connection, start),
    // The compiler names an operation without a method.
  } satisfies Record<Operation, unknown> & AnimalStore;
}

function queryOf(parameters: object): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters))
    if (value !== undefined) query.set(name, String(value));
  return `?${query}`;
}

function sessionOf(connection: Connection, start: string): Session {
  const session = { bookmark: { start, newest: '' } };
  return {
    ...clientOf({ ...connection, session }),
    get bookmark() {
      return session.bookmark.newest || session.bookmark.start;
    },
  };
}
