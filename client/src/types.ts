/** Names for the types of the description. */
import type { components, operations } from '../schema.d.ts';

type Schemas = components['schemas'];
type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>;
/** A parameter that is `undefined` is not sent. The client follows the pages itself. */
type ListQuery<O extends keyof operations> = {
  [Name in Exclude<keyof Query<O>, 'cursor'>]?: Query<O>[Name] | undefined;
};

export type Pet = Schemas['Pet'];
export type NewPet = Schemas['NewPet'];
export type PetPatch = Schemas['PetPatch'];
export type PetStatus = Schemas['PetStatus'];
export type Order = Schemas['Order'];
export type NewOrder = Schemas['NewOrder'];
export type OrderPatch = Schemas['OrderPatch'];
export type OrderStatus = Schemas['OrderStatus'];
export type Health = Schemas['Health'];

/** Without the cursor, which is part of the address of the next page. */
export type ListPetsQuery = ListQuery<'listPets'>;
export type ListOrdersQuery = ListQuery<'listOrders'>;
