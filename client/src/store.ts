/** The client: one method for each operation. */
import type { StoreError } from './error.ts';
import {
  type Connection,
  type CreateOptions,
  type Input,
  nextPage,
  type Operation,
  type Reply,
  type ResultOf,
  run,
} from './operations.ts';
import { type Pages, pagesOf } from './pages.ts';
import type { CallOptions } from './send.ts';
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

export type StoreOptions = CallOptions & {
  /** The store's address, which ends in `/v1`. */
  baseUrl: string;
  apiKey: string;
  /** Default: the global `fetch`. */
  fetch?: typeof fetch | undefined;
};

/** A promise of what a call returns; rejected with a {@link StoreError}. */
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

/** Every operation of the store. All integers of 64 bits are `bigint`. */
export interface AnimalStore {
  /**
   * Lists animals, ascending by id, optionally of one status: all of them, page by page, in a `for await`
   * (a page has 100 animals by default), or one page with `page()` (20 by default). Stable.
   *
   * @example
   * for await (const pet of store.listPets({ status: 'sold' })) console.log(pet.id, pet.name);
   */
  listPets(query?: ListPetsQuery, options?: CallOptions): Pages<Pet>;

  /**
   * Adds an animal; the service assigns its id. Stable.
   *
   * @example
   * const rex = await store.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   */
  createPet(pet: NewPet, options?: CreateOptions): Call<Pet>;

  /**
   * Fetches an animal. Stable.
   *
   * @deprecated It is to be removed on 5 December 2030. Use `listPets` with a `status` instead.
   * @example
   * const pet = await store.getPet(7n);
   */
  getPet(petId: bigint, options?: CallOptions): Call<Pet>;

  /**
   * Sets some fields of an animal; `status: null` removes its status. Beta: may change with notice.
   * It is not sent again after no answer or a 5xx, for it would overwrite what others did in between.
   *
   * @example
   * const pet = await store.updatePet(7n, { name: 'Max' });
   */
  updatePet(petId: bigint, patch: PetPatch, options?: CallOptions): Call<Pet>;

  /**
   * Deletes an animal. Beta: may change with notice.
   *
   * @example
   * await store.deletePet(7n);
   */
  deletePet(petId: bigint, options?: CallOptions): Call<void>;

  /**
   * Lists orders, ascending by id, optionally of one status. Experimental: may change at any time.
   *
   * @example
   * const { items } = await store.listOrders({ status: 'placed', limit: 10 }).page();
   */
  listOrders(query?: ListOrdersQuery, options?: CallOptions): Pages<Order>;

  /**
   * Orders an animal that is available. Experimental: may change at any time.
   *
   * @example
   * const order = await store.placeOrder({ petId: 7n });
   */
  placeOrder(order: NewOrder, options?: CreateOptions): Call<Order>;

  /**
   * Fetches an order. Experimental: may change at any time.
   *
   * @example
   * const { status } = await store.getOrder(5n);
   */
  getOrder(orderId: bigint, options?: CallOptions): Call<Order>;

  /**
   * Approves, delivers or cancels an order. Experimental: may change at any time.
   *
   * @example
   * const order = await store.updateOrder(5n, { status: 'approved' });
   */
  updateOrder(orderId: bigint, patch: OrderPatch, options?: CallOptions): Call<Order>;

  /**
   * Service health and version. Stable.
   *
   * @example
   * const { version } = await store.getHealth();
   */
  getHealth(options?: CallOptions): Call<Health>;

  /**
   * The same client in a session: each request carries the newest bookmark that came with an answer, so that
   * the nearest replica answers, and never with less than the session has seen.
   *
   * @param start - `first-primary` (default): sees everything written before. `first-unconstrained`: the
   *   first answer, too, comes from the nearest replica. Or the `bookmark` of an earlier session.
   * @example
   * const session = store.session();
   * await session.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   * for await (const pet of session.listPets({ status: 'available' })) console.log(pet.name);
   */
  session(start?: string): Session;
}

export interface Session extends AnimalStore {
  /** Where the session is: to go on from here elsewhere, with `store.session(bookmark)`. */
  readonly bookmark: string;
}

/**
 * A client of the store.
 *
 * @throws TypeError about an invalid `baseUrl` or `apiKey`
 * @example
 * const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey });
 */
export function createAnimalStore(options: StoreOptions): AnimalStore {
  const { baseUrl, apiKey, fetch = globalThis.fetch, ...defaults } = options;
  const { href } = new URL(baseUrl);
  // `Headers` refuses such a key, too, but its error shows it.
  if (!/^[\x21-\x7e]+$/.test(apiKey))
    throw new TypeError('apiKey: must be printable ASCII without spaces');
  return clientOf({ baseUrl: href.replace(/\/+$/, ''), apiKey, fetch, defaults });
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
      // When the call fails both promises reject, and the caller handles only this one.
      data.catch(() => {});
      return reply;
    };
    return Object.assign(data, { withMetadata });
  }

  return {
    listPets: (query, options) =>
      pagesOf(
        (page, limit) => run(connection, 'listPets', { query: { limit, ...query }, page }, options),
        (metadata) => nextPage(connection, 'listPets', metadata),
      ),
    createPet: (body, options) => call('createPet', { body }, options),
    getPet: (id, options) => call('getPet', { id }, options),
    updatePet: (id, body, options) => call('updatePet', { id, body }, options),
    deletePet: (id, options) => call('deletePet', { id }, options),
    listOrders: (query, options) =>
      pagesOf(
        (page, limit) =>
          run(connection, 'listOrders', { query: { limit, ...query }, page }, options),
        (metadata) => nextPage(connection, 'listOrders', metadata),
      ),
    placeOrder: (body, options) => call('placeOrder', { body }, options),
    getOrder: (id, options) => call('getOrder', { id }, options),
    updateOrder: (id, body, options) => call('updateOrder', { id, body }, options),
    getHealth: (options) => call('getHealth', {}, options),
    session: (start = 'first-primary') => sessionOf(connection, start),
  };
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
