/** The client: one method for each operation. */
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
} from '../schema.d.ts';
import { StoreError } from './error.ts';
import { requireRawJson } from './json.ts';
import {
  type Client,
  checkStoreOptions,
  checkToken,
  DEFAULT_LIMITS,
  withoutNull,
} from './options.ts';
import { listOf } from './pages.ts';
import { request } from './request.ts';
import type { CallOptions, CreateOptions, Pages, StoreOptions } from './types.ts';

/** The operations of the store. Every 64-bit integer is a `bigint`. */
export interface AnimalStore {
  /**
   * Lists animals in ascending order of id, optionally with one status: all pages with `for await` (100 animals
   * in a page by default), or one page with `page()` (20 by default). Stable.
   * @example for await (const pet of store.listPets({ status: 'sold' })) console.log(pet.id, pet.name);
   */
  listPets: (query?: ListPetsQuery, options?: CallOptions) => Pages<Pet>;

  /**
   * Adds an animal; the service assigns its id. Stable.
   * @example const rex = await store.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   */
  createPet: (pet: NewPet, options?: CreateOptions) => Promise<Pet>;

  /**
   * Fetches an animal. Stable.
   *
   * @deprecated It will be removed on 5 December 2030. Use `listPets` with a `status` instead.
   * @example const pet = await store.getPet(7n);
   */
  getPet: (petId: bigint, options?: CallOptions) => Promise<Pet>;

  /**
   * Changes fields of an animal; `status: null` removes its status. Not retried if it
   * was perhaps carried out: a second attempt could overwrite changes of other clients.
   * @beta
   * @example const pet = await store.updatePet(7n, { name: 'Max' });
   */
  updatePet: (petId: bigint, patch: PetPatch, options?: CallOptions) => Promise<Pet>;

  /**
   * Deletes an animal.
   * @beta
   * @example await store.deletePet(7n);
   */
  deletePet: (petId: bigint, options?: CallOptions) => Promise<void>;

  /**
   * Lists orders in ascending order of id, optionally with one status.
   * @experimental
   * @example const { items } = await store.listOrders({ status: 'placed', limit: 10 }).page();
   */
  listOrders: (query?: ListOrdersQuery, options?: CallOptions) => Pages<Order>;

  /**
   * Orders an available animal.
   * @experimental
   * @example const order = await store.placeOrder({ petId: 7n });
   */
  placeOrder: (order: NewOrder, options?: CreateOptions) => Promise<Order>;

  /**
   * Fetches an order.
   * @experimental
   * @example const { status } = await store.getOrder(5n);
   */
  getOrder: (orderId: bigint, options?: CallOptions) => Promise<Order>;

  /**
   * Approves, delivers or cancels an order.
   * @experimental
   * @example const order = await store.updateOrder(5n, { status: 'approved' });
   */
  updateOrder: (orderId: bigint, patch: OrderPatch, options?: CallOptions) => Promise<Order>;

  /**
   * Returns the health and the version of the service. Stable.
   * @example const { version } = await store.getHealth();
   */
  getHealth: (options?: CallOptions) => Promise<Health>;

  /**
   * Starts a session: each request sends the newest bookmark, so that reads from the nearest replica show at
   * least what the session has seen.
   *
   * @param start - `first-primary` (default): the first read sees all earlier writes.
   *   `first-unconstrained`: even the first read uses the nearest replica. Or the `bookmark` of an earlier session.
   * @example
   * const session = store.session();
   * await session.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   * for await (const pet of session.listPets({ status: 'available' })) console.log(pet.name);
   */
  session: (start?: string) => Session;
}

export interface Session extends AnimalStore {
  /** The state that the session has seen: `store.session(bookmark)` continues from it. */
  readonly bookmark: string;
}

/**
 * Creates a client of the store.
 *
 * @throws TypeError that names an invalid option, or an Error in a runtime without `JSON.rawJSON`
 * @example const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey });
 */
export function createAnimalStore(options: StoreOptions): AnimalStore {
  requireRawJson();
  const given = withoutNull(options);
  checkStoreOptions(given);
  // `options` comes first for its types only: `given` has the same values, without those that are null.
  return storeOf({
    ...options,
    ...DEFAULT_LIMITS,
    ...given,
    baseUrl: options.baseUrl.replace(/\/$/, ''),
  });
}

function storeOf(client: Client): AnimalStore {
  const requestData = async <T>(...args: Parameters<typeof request>) =>
    (await request<T>(...args)).data;
  return {
    listPets: (query, options) => listOf(client, '/pets', query, options),
    createPet: (body, options) => requestData(client, 'POST', '/pets', options, { body }),
    getPet: (petId, options) => requestData(client, 'GET', '/pets/{petId}', options, { petId }),
    // Not retried if it was perhaps carried out: a retry could overwrite what other clients changed since, for example make a sold
    // animal available.
    updatePet: (petId, body, options) =>
      requestData(client, 'PATCH', '/pets/{petId}', options, { petId, body }),
    deletePet: (petId, options) =>
      requestData<void>(client, 'DELETE', '/pets/{petId}', options, {
        petId,
        bodyType: 'none',
      }).catch(acceptDeleted),
    listOrders: (query, options) => listOf(client, '/store/orders', query, options),
    placeOrder: (body, options) => requestData(client, 'POST', '/store/orders', options, { body }),
    getOrder: (orderId, options) =>
      requestData(client, 'GET', '/store/orders/{orderId}', options, { orderId }),
    // Retried, because an order never returns to an earlier status. If the change was carried out, the retry is rejected or changes
    // nothing.
    updateOrder: (orderId, body, options) =>
      requestData(client, 'PATCH', '/store/orders/{orderId}', options, {
        orderId,
        body,
        isRetryable: true,
      }),
    getHealth: (options) => requestData(client, 'GET', '/health', options),
    session(start = 'first-primary') {
      checkToken('start', start);
      const session = { bookmark: { value: start } };
      return {
        ...storeOf({ ...client, session }),
        get bookmark() {
          return session.bookmark.value;
        },
      };
    },
  };
}

/**
 * Accepts a 404 after an attempt that may have deleted the animal. If that attempt did not, another client did, or the animal never
 * existed: ids are never reused, so it is gone in each case.
 */
function acceptDeleted(error: unknown) {
  const mayBeDeleted = error instanceof StoreError && error.outcomeUnknown && error.status === 404;
  // A missing animal is `pet_not_found`. A plain `not_found` means that the path is wrong, which is an error.
  if (!mayBeDeleted || !error.code.endsWith('_not_found')) throw error;
}
