/** Names for the types of the description. Written by `npm run client:types`. */
import type { components, operations } from './schema.d.ts';

type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>;

export type PetStatus = components['schemas']['PetStatus'];
export type NewPet = components['schemas']['NewPet'];
export type PetPatch = components['schemas']['PetPatch'];
export type Pet = components['schemas']['Pet'];
export type OrderStatus = components['schemas']['OrderStatus'];
export type NewOrder = components['schemas']['NewOrder'];
export type OrderPatch = components['schemas']['OrderPatch'];
export type Order = components['schemas']['Order'];
export type Pets = components['schemas']['Pets'];
export type Orders = components['schemas']['Orders'];
export type Health = components['schemas']['Health'];
export type ListPetsQuery = Pick<Query<'listPets'>, 'limit' | 'status'>;
export type ListOrdersQuery = Pick<Query<'listOrders'>, 'limit' | 'status'>;

// Without this line, `Query` would be exported, too.
export {};
