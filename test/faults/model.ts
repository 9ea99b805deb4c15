/** A sequential model of the store: the answer to each operation, and its effect on the state. */
import { isDeepStrictEqual } from 'node:util';
import { idempotencyKeyReused } from '../../src/d1/idempotency/create.ts';
import { type ApiError, STATUS_OF } from '../../src/errors.ts';
import { invalidTransition, orderNotFound, petNotAvailable } from '../../src/orders/errors.ts';
import { petHasOpenOrder, petNotFound } from '../../src/pets/errors.ts';

export type PetStatus = 'available' | 'pending' | 'sold';
export type OrderStatus = 'placed' | 'approved' | 'delivered' | 'cancelled';
export type Pet = { id: number; name: string; categoryId: number; status?: PetStatus };
/** Without `placedAt`, which the model cannot predict. */
export type Order = { id: number; petId: number; status: OrderStatus };

type Page<Status> = { status: Status | undefined; limit: number; after: number | undefined };

/** `client` has an API key of its own; `key` is an Idempotency-Key. */
export type Operation = { client: number } & (
  | ({ name: 'listPets' } & Page<PetStatus>)
  | { name: 'createPet'; body: Omit<Pet, 'id'>; key: string | undefined }
  | { name: 'getPet'; petId: number }
  | { name: 'updatePet'; petId: number; patch: PetPatch }
  | { name: 'deletePet'; petId: number }
  | ({ name: 'listOrders' } & Page<OrderStatus>)
  | { name: 'placeOrder'; body: { petId: number }; key: string | undefined }
  | { name: 'getOrder'; orderId: number }
  | { name: 'updateOrder'; orderId: number; status: OrderStatus }
);
export type PetPatch = { name?: string; categoryId?: number; status?: PetStatus | null };

/** `location` is its path; `next` is the last id before the next page. */
export type Answer = {
  status: number;
  body: unknown;
  location?: string;
  replayed?: true;
  next?: number;
};

export type State = {
  pets: Pet[];
  orders: Order[];
  lastPet: number;
  lastOrder: number;
  /** By the id of an animal: the order that determined its status. Without one, a client set the status. */
  orderOf: Record<number, number>;
  /** The answers to creates with an Idempotency-Key, by client, operation and key. */
  first: Record<string, { body: object; answer: Answer }>;
};

export const EMPTY: State = {
  pets: [],
  orders: [],
  lastPet: 0,
  lastOrder: 0,
  orderOf: {},
  first: {},
};

export type Observed = { operation: Operation; answer: Answer };

/**
 * The states after concurrent operations: one for each order of the operations in which the model gives the same
 * answers. An empty array means that no order explains the answers.
 */
export function explain(state: State, observed: Observed[]): State[] {
  if (observed.length === 0) return [state];
  return observed.flatMap(({ operation, answer }, i) => {
    const next = structuredClone(state);
    if (!isDeepStrictEqual(run(next, operation), answer)) return [];
    return explain(next, observed.toSpliced(i, 1));
  });
}

/** Applies an operation to the state, and returns its answer. */
export function run(state: State, operation: Operation): Answer {
  const petOf = (id: number) => state.pets.find((pet) => pet.id === id);
  const openOrderOf = (petId: number) =>
    state.orders.find((order) => order.petId === petId && isOpen(order.status));

  switch (operation.name) {
    case 'listPets':
      return page(state.pets, operation);
    case 'listOrders':
      return page(state.orders, operation);
    case 'createPet':
      return once(state, operation, () => {
        state.lastPet += 1;
        const pet = { id: state.lastPet, ...operation.body };
        state.pets.push(pet);
        return { status: 201, body: { ...pet }, location: `/v1/pets/${pet.id}` };
      });
    case 'getPet': {
      const pet = petOf(operation.petId);
      return pet ? { status: 200, body: pet } : rejection(petNotFound(BigInt(operation.petId)));
    }
    case 'updatePet': {
      const { petId, patch } = operation;
      const pet = petOf(petId);
      if (!pet) return rejection(petNotFound(BigInt(petId)));
      const { status, ...others } = patch;
      if (status !== undefined) {
        if (openOrderOf(petId)) return rejection(petHasOpenOrder(BigInt(petId)));
        delete pet.status;
        if (status !== null) pet.status = status;
        delete state.orderOf[petId];
      }
      return { status: 200, body: Object.assign(pet, others) };
    }
    case 'deletePet': {
      const { petId } = operation;
      if (!petOf(petId)) return rejection(petNotFound(BigInt(petId)));
      if (openOrderOf(petId)) return rejection(petHasOpenOrder(BigInt(petId)));
      state.pets = state.pets.filter(({ id }) => id !== petId);
      return { status: 204, body: undefined };
    }
    case 'placeOrder':
      return once(state, operation, () => {
        const { petId } = operation.body;
        const pet = petOf(petId);
        if (!pet) return rejection(petNotFound(BigInt(petId)));
        if (pet.status !== 'available')
          return rejection(petNotAvailable(BigInt(petId), pet.status ?? null));
        state.lastOrder += 1;
        const order: Order = { id: state.lastOrder, petId, status: 'placed' };
        state.orders.push(order);
        pet.status = 'pending';
        state.orderOf[petId] = order.id;
        return { status: 201, body: { ...order }, location: `/v1/store/orders/${order.id}` };
      });
    case 'getOrder': {
      const order = state.orders.find(({ id }) => id === operation.orderId);
      return order
        ? { status: 200, body: order }
        : rejection(orderNotFound(BigInt(operation.orderId)));
    }
    case 'updateOrder': {
      const order = state.orders.find(({ id }) => id === operation.orderId);
      if (!order) return rejection(orderNotFound(BigInt(operation.orderId)));
      const { status } = operation;
      if (status !== order.status) {
        if (!NEXT[order.status].includes(status))
          return rejection(invalidTransition(order.status, status));
        order.status = status;
        const pet = petOf(order.petId);
        if (pet) pet.status = PET_STATUS[status];
      }
      return { status: 200, body: order };
    }
  }
}

const NEXT: Record<OrderStatus, OrderStatus[]> = {
  placed: ['approved', 'cancelled'],
  approved: ['delivered', 'cancelled'],
  delivered: [],
  cancelled: [],
};

/** The status of an animal by the status of its order. */
export const PET_STATUS: Record<OrderStatus, PetStatus> = {
  placed: 'pending',
  approved: 'pending',
  delivered: 'sold',
  cancelled: 'available',
};

export function isOpen(status: OrderStatus): boolean {
  return NEXT[status].length > 0;
}

function once(
  state: State,
  {
    client,
    name,
    body,
    key,
  }: { client: number; name: string; body: object; key: string | undefined },
  create: () => Answer,
): Answer {
  const record = `${client} ${name} ${key}`;
  const first = key === undefined ? undefined : state.first[record];
  if (first && !isDeepStrictEqual(first.body, body)) return rejection(idempotencyKeyReused());
  if (first) return { ...first.answer, replayed: true };
  const answer = create();
  if (key !== undefined && answer.status === 201) state.first[record] = { body, answer };
  return answer;
}

function page<Item extends { id: number; status?: string }>(
  items: Item[],
  { status, limit, after = 0 }: Page<string>,
): Answer {
  const rest = items.filter(
    (item) => item.id > after && (status === undefined || item.status === status),
  );
  const body = rest.slice(0, limit);
  const last = body.at(-1);
  return { status: 200, body, ...(last && rest.length > limit && { next: last.id }) };
}

function rejection({ code, message }: ApiError): Answer {
  return { status: STATUS_OF[code], body: { code, message, status: STATUS_OF[code] } };
}
