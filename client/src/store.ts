/** The client: one method for each operation. */
import { StoreError } from './error.ts';
import { parseJson, stringifyJson } from './json.ts';
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
} from './schema.ts';
import { type Session, send } from './send.ts';

/**
 * Creates a client of the store.
 *
 * @throws TypeError about an invalid option, or Error in a runtime that is too old
 * @example const store = createAnimalStore({ baseUrl: 'http://localhost:8787/v1', apiKey });
 */
export function createAnimalStore(options: StoreOptions): AnimalStore {
  if (parseJson('9007199254740993') !== 9007199254740993n)
    throw new Error('JSON.parse rounds integers: use Node.js 22 or later');
  // A copy, which cannot be changed after the check.
  const checked = { ...options };
  checkOptions(checked);
  return new AnimalStore(checked);
}

/** The operations of the store. Every 64-bit integer is a `bigint`. */
export class AnimalStore {
  readonly #options: StoreOptions;
  readonly #session: Session;

  constructor(options: StoreOptions, bookmark?: string) {
    this.#options = options;
    this.#session = { bookmark };
  }

  /**
   * Lists animals by ascending id: all with `for await` (100 animals in a page by default), or one
   * page with `page()` (20 by default). Stable.
   * @example
   * for await (const pet of store.listPets({ status: 'sold' })) console.log(pet.id, pet.name);
   */
  listPets(query?: ListPetsQuery, options?: CallOptions): Pages<Pet> {
    return this.#list('/pets', query, options);
  }

  /**
   * Adds an animal. Stable.
   * @example
   * const rex = await store.createPet({ name: 'Rex', categoryId: 3n, status: 'available' });
   */
  createPet(pet: NewPet, options?: CreateOptions): Promise<Pet> {
    return this.#create('/pets', pet, options);
  }

  /**
   * Fetches an animal. Stable.
   * @deprecated It will be removed on 5 December 2030. Use `listPets` with a `status` instead.
   */
  async getPet(petId: bigint, options?: CallOptions): Promise<Pet> {
    return this.#request('GET', `/pets/${exact(petId)}`, options);
  }

  /**
   * Changes fields of an animal; `status: null` removes its status. Not retried if it was perhaps
   * carried out: a retry could overwrite changes of other clients.
   * @beta
   */
  async updatePet(petId: bigint, patch: PetPatch, options?: CallOptions): Promise<Pet> {
    return this.#request('PATCH', `/pets/${exact(petId)}`, options, patch, true);
  }

  /**
   * Deletes an animal.
   * @beta
   */
  async deletePet(petId: bigint, options?: CallOptions): Promise<void> {
    try {
      await this.#request('DELETE', `/pets/${exact(petId)}`, options);
    } catch (error) {
      // An earlier attempt may have deleted the animal. Ids are never reused, so it is gone in any
      // case.
      const isGone = error instanceof StoreError && error.code === 'pet_not_found';
      if (!isGone || !error.outcomeUnknown) throw error;
    }
  }

  /**
   * Lists orders by ascending id.
   * @experimental
   */
  listOrders(query?: ListOrdersQuery, options?: CallOptions): Pages<Order> {
    return this.#list('/store/orders', query, options);
  }

  /**
   * Orders an available animal.
   * @experimental
   */
  placeOrder(order: NewOrder, options?: CreateOptions): Promise<Order> {
    return this.#create('/store/orders', order, options);
  }

  /**
   * Fetches an order.
   * @experimental
   */
  async getOrder(orderId: bigint, options?: CallOptions): Promise<Order> {
    return this.#request('GET', `/store/orders/${exact(orderId)}`, options);
  }

  /**
   * Approves, delivers or cancels an order. An order never returns to an earlier status, so a retry
   * undoes nothing.
   * @experimental
   */
  async updateOrder(orderId: bigint, patch: OrderPatch, options?: CallOptions): Promise<Order> {
    return this.#request('PATCH', `/store/orders/${exact(orderId)}`, options, patch);
  }

  /** Returns the health and the version of the service. Stable. */
  async getHealth(options?: CallOptions): Promise<Health> {
    const request = { method: 'GET', path: '/health', isData: isHealth };
    return (await send<Health>(this.#options, this.#session, request, options)).data;
  }

  /**
   * Starts a session: reads come from the nearest replica that has everything that the session has
   * read and written.
   *
   * @param bookmark - that of an earlier session, to continue it
   * @example const session = store.session();
   */
  session(bookmark = 'first-primary'): AnimalStore {
    return new AnimalStore(this.#options, bookmark);
  }

  /**
   * The newest state that this session has seen: `store.session(bookmark)` continues from it.
   * `undefined` outside a session.
   */
  get bookmark(): string | undefined {
    return this.#session.bookmark;
  }

  #list<T>(path: string, query?: object, options?: CallOptions): Pages<T> {
    return pagesOf(async (text) => {
      const request = { method: 'GET', path: `${path}?${text}`, isData: isList };
      const { data, next } = await send<T[]>(this.#options, this.#session, request, options);
      return { items: data, next };
    }, query);
  }

  #create<T>(path: string, body: object, options?: CreateOptions): Promise<T> {
    // Not `randomUUID`, which a page over http lacks.
    const randomKey = crypto.getRandomValues(new Uint8Array(16)).join('-');
    const idempotencyKey = options?.idempotencyKey ?? randomKey;
    return this.#request('POST', path, { ...options, idempotencyKey }, body);
  }

  async #request<T>(
    method: string,
    path: string,
    options?: CreateOptions,
    body?: object,
    mayOverwrite = false,
  ): Promise<T> {
    const request = {
      method,
      path,
      body: stringifyJson(body),
      idempotencyKey: options?.idempotencyKey,
      mayOverwrite,
      isData: isItem,
    };
    return (await send<T>(this.#options, this.#session, request, options)).data;
  }
}

/** A caller in JavaScript can pass a number, which may have been rounded. @throws TypeError */
function exact(id: bigint): bigint {
  if (typeof id !== 'bigint') throw new TypeError('id: must be a bigint, such as 7n');
  return id;
}

/** An animal or an order. */
function isItem(data: unknown): boolean {
  return typeof Object(data).id === 'bigint';
}

function isHealth(data: unknown): boolean {
  return typeof Object(data).status === 'string';
}

function isList(data: unknown): boolean {
  return Array.isArray(data) && data.every(isItem);
}
