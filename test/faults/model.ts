/**
 * A sequential model of the store, written from its documents: the answer to each operation, and its effect. It shares no
 * code with the store. {@link isExplained} compares it with what concurrent clients saw.
 */
import { isDeepStrictEqual } from 'node:util';

type PetStatus = 'available' | 'pending' | 'sold';
type OrderStatus = 'placed' | 'approved' | 'delivered' | 'cancelled';
type Pet = { id: number; name: string; categoryId: number; status?: PetStatus };
/** Without `placedAt`, which the model cannot predict. */
type Order = { id: number; petId: number; status: OrderStatus };
type PetPatch = { name?: string; categoryId?: number; status?: PetStatus | null };

/** `key` is an Idempotency-Key. */
export type Operation =
  | { name: 'listPets' }
  | { name: 'createPet'; body: Omit<Pet, 'id'>; key?: string | undefined }
  | { name: 'updatePet'; id: number; body: PetPatch }
  | { name: 'deletePet'; id: number }
  | { name: 'listOrders' }
  | { name: 'placeOrder'; body: { petId: number }; key?: string | undefined }
  | { name: 'updateOrder'; id: number; body: { status: string } };

/** The body of an error is its code. */
export type Answer = { status: number; body: unknown; replayed?: true };

/** An operation that a client sent. Its outcome is unknown while it has no answer. Times are in milliseconds. */
export type Event = { operation: Operation; sentAt: number; answer?: Answer; answeredAt: number };

type State = {
  pets: Pet[];
  orders: Order[];
  lastPet: number;
  lastOrder: number;
  /** The answers to creates with an Idempotency-Key, by operation and key. */
  first: Record<string, { body: object; answer: Answer }>;
};

const EMPTY: State = { pets: [], orders: [], lastPet: 0, lastOrder: 0, first: {} };

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

const refused = (status: number, code: string): Answer => ({ status, body: code });
const noPet = refused(404, 'pet_not_found');
const openOrder = refused(409, 'pet_has_open_order');

/** Applies an operation to the state, and returns its answer. */
function answer(state: State, operation: Operation): Answer {
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
        return { status: 201, body: { ...pet } };
      });
    case 'updatePet': {
      const pet = state.pets.find(({ id }) => id === operation.id);
      if (!pet) return noPet;
      const { status, ...others } = operation.body;
      if (status !== undefined && hasOpenOrder(state, pet.id)) return openOrder;
      if (status !== undefined) delete pet.status;
      Object.assign(pet, others, status && { status });
      return { status: 200, body: { ...pet } };
    }
    case 'deletePet': {
      const others = state.pets.filter(({ id }) => id !== operation.id);
      if (others.length === state.pets.length) return noPet;
      if (hasOpenOrder(state, operation.id)) return openOrder;
      state.pets = others;
      return { status: 204, body: undefined };
    }
    case 'placeOrder':
      return once(state, operation, () => {
        const { petId } = operation.body;
        const pet = state.pets.find(({ id }) => id === petId);
        if (!pet) return noPet;
        if (pet.status !== 'available') return refused(409, 'pet_not_available');
        state.lastOrder += 1;
        const order: Order = { id: state.lastOrder, petId, status: 'placed' };
        state.orders.push(order);
        pet.status = 'pending';
        return { status: 201, body: { ...order } };
      });
    case 'updateOrder': {
      const order = state.orders.find(({ id }) => id === operation.id);
      if (!order) return refused(404, 'order_not_found');
      if (operation.body.status === order.status) return { status: 200, body: { ...order } };
      const status = NEXT[order.status].find((next) => next === operation.body.status);
      if (!status) return refused(409, 'invalid_transition');
      order.status = status;
      const pet = state.pets.find(({ id }) => id === order.petId);
      if (pet) pet.status = PET_STATUS[status];
      return { status: 200, body: { ...order } };
    }
  }
}

function hasOpenOrder({ orders }: State, petId: number): boolean {
  return orders.some((order) => order.petId === petId && NEXT[order.status].length > 0);
}

type Create = { name: string; body: object; key?: string | undefined };

/** Creates once per key. A refused create leaves no record. */
function once(state: State, { name, body, key }: Create, create: () => Answer): Answer {
  if (key === undefined) return create();
  const first = state.first[`${name} ${key}`];
  if (first && !isDeepStrictEqual(first.body, body)) return refused(422, 'idempotency_key_reused');
  if (first) return { ...first.answer, replayed: true };
  const created = create();
  if (created.status === 201) state.first[`${name} ${key}`] = { body, answer: created };
  return created;
}

/**
 * Whether an order of the operations explains all answers (linearizability): each operation takes effect at one moment
 * between its request and its response. An operation whose outcome is unknown takes effect once at any moment after its
 * request, also after its response, or never.
 */
export function isExplained(events: Event[]): boolean {
  const seen = new Set<string>();

  function search(state: State, rest: Event[]): boolean {
    const firstAnswer = Math.min(...rest.map(({ answeredAt }) => answeredAt));
    if (firstAnswer === Infinity) return true;
    const place = JSON.stringify([state, rest.map((event) => events.indexOf(event))]);
    if (seen.has(place)) return false;
    seen.add(place);
    return rest.some((event) => {
      if (event.sentAt > firstAnswer) return false;
      const next = structuredClone(state);
      const expected = answer(next, event.operation);
      const isPossible = event.answer
        ? isDeepStrictEqual(expected, event.answer)
        : !isDeepStrictEqual(next, state);
      const others = rest.filter((other) => other !== event);
      return isPossible && search(next, others);
    });
  }

  // Most histories need few of those whose outcome is unknown, so they are tried last.
  const answered = events.filter((event) => event.answer);
  const unknown = events.filter((event) => !event.answer);
  return search(EMPTY, [...answered, ...unknown]);
}
