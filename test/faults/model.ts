/**
 * A sequential model of the store, written from its documents: the answer to each operation, and its effect. It shares no
 * code with the store.
 */
import { isDeepStrictEqual } from 'node:util';

export type PetStatus = 'available' | 'pending' | 'sold';
export type OrderStatus = 'placed' | 'approved' | 'delivered' | 'cancelled';
export type Pet = { id: number; name: string; categoryId: number; status?: PetStatus };
/** Without `placedAt`, which the model cannot predict. */
export type Order = { id: number; petId: number; status: OrderStatus };
export type PetPatch = { name?: string; categoryId?: number; status?: PetStatus | null };

/** `account` has an API key of its own; `key` is an Idempotency-Key. */
export type Operation = { account: number } & (
  | { name: 'listPets' }
  | { name: 'createPet'; body: Omit<Pet, 'id'>; key: string | undefined }
  | { name: 'updatePet'; petId: number; body: PetPatch }
  | { name: 'deletePet'; petId: number }
  | { name: 'listOrders' }
  | { name: 'placeOrder'; body: { petId: number }; key: string | undefined }
  | { name: 'updateOrder'; orderId: number; body: { status: OrderStatus } }
);

/** `location` is a path. The body of an error is its code. */
export type Answer = { status: number; body: unknown; location?: string; replayed?: true };

export type State = {
  pets: Pet[];
  orders: Order[];
  lastPet: number;
  lastOrder: number;
  /** The answers to creates with an Idempotency-Key, by account, operation and key. */
  first: Record<string, { body: object; answer: Answer }>;
};

export const EMPTY: State = { pets: [], orders: [], lastPet: 0, lastOrder: 0, first: {} };

const NEXT: Record<OrderStatus, OrderStatus[]> = {
  placed: ['approved', 'cancelled'],
  approved: ['delivered', 'cancelled'],
  delivered: [],
  cancelled: [],
};

/** The status of an animal by the status of its order. */
const PET_STATUS: Record<OrderStatus, PetStatus> = {
  placed: 'pending',
  approved: 'pending',
  delivered: 'sold',
  cancelled: 'available',
};

const refused = (status: number, code: string): Answer => ({ status, body: { code } });
const noPet = refused(404, 'pet_not_found');
const noOrder = refused(404, 'order_not_found');
const openOrder = refused(409, 'pet_has_open_order');

/** Applies an operation to the state, and returns its answer. */
export function run(state: State, operation: Operation): Answer {
  const petOf = (id: number) => state.pets.find((pet) => pet.id === id);
  const orderOf = (id: number) => state.orders.find((order) => order.id === id);
  const hasOpenOrder = (petId: number) =>
    state.orders.some((order) => order.petId === petId && NEXT[order.status].length > 0);

  switch (operation.name) {
    case 'listPets':
      return { status: 200, body: structuredClone(state.pets) };
    case 'listOrders':
      return { status: 200, body: structuredClone(state.orders) };
    case 'createPet':
      return once(state, operation, () => {
        state.lastPet += 1;
        const pet = { id: state.lastPet, ...operation.body };
        state.pets.push(pet);
        return { status: 201, body: { ...pet }, location: `/v1/pets/${pet.id}` };
      });
    case 'updatePet': {
      const pet = petOf(operation.petId);
      if (!pet) return noPet;
      const { status, ...others } = operation.body;
      if (status !== undefined && hasOpenOrder(pet.id)) return openOrder;
      if (status !== undefined) delete pet.status;
      Object.assign(pet, others, status && { status });
      return { status: 200, body: { ...pet } };
    }
    case 'deletePet': {
      const { petId } = operation;
      if (!petOf(petId)) return noPet;
      if (hasOpenOrder(petId)) return openOrder;
      state.pets = state.pets.filter(({ id }) => id !== petId);
      return { status: 204, body: undefined };
    }
    case 'placeOrder':
      return once(state, operation, () => {
        const { petId } = operation.body;
        const pet = petOf(petId);
        if (!pet) return noPet;
        if (pet.status !== 'available') return refused(409, 'pet_not_available');
        state.lastOrder += 1;
        const order: Order = { id: state.lastOrder, petId, status: 'placed' };
        state.orders.push(order);
        pet.status = 'pending';
        return { status: 201, body: { ...order }, location: `/v1/store/orders/${order.id}` };
      });
    case 'updateOrder': {
      const order = orderOf(operation.orderId);
      if (!order) return noOrder;
      const { status } = operation.body;
      if (status !== order.status) {
        if (!NEXT[order.status].includes(status)) return refused(409, 'invalid_transition');
        order.status = status;
        const pet = petOf(order.petId);
        if (pet) pet.status = PET_STATUS[status];
      }
      return { status: 200, body: { ...order } };
    }
  }
}

type Create = { account: number; name: string; body: object; key: string | undefined };

function once(state: State, { account, name, body, key }: Create, create: () => Answer): Answer {
  if (key === undefined) return create();
  const record = `${account} ${name} ${key}`;
  const first = state.first[record];
  if (first && !isDeepStrictEqual(first.body, body)) return refused(422, 'idempotency_key_reused');
  if (first) return { ...first.answer, replayed: true };
  const answer = create();
  if (answer.status === 201) state.first[record] = { body, answer };
  return answer;
}
