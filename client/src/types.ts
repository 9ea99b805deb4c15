/** Names for the types of the description. */
import type { components, operations } from '../schema.d.ts';

type Schemas = components['schemas'];

/** A value that a newer service may have added. Editors still suggest the known ones. */
export type Unknown = string & {};
type Open<T> = T extends string ? (string extends T ? T : T | Unknown) : T;
/** What the store sends: a `switch` over a status needs a `default`. */
type Received<T> = { [Name in keyof T]: Open<T[Name]> };

type Query<O extends keyof operations> = NonNullable<operations[O]['parameters']['query']>;
/** A parameter that is `undefined` is not sent. The client follows the pages itself. */
type ListQuery<O extends keyof operations> = {
  [Name in Exclude<keyof Query<O>, 'after'>]?: Query<O>[Name] | undefined;
};

export type Pet = Received<Schemas['Pet']>;
export type NewPet = Schemas['NewPet'];
export type PetPatch = Schemas['PetPatch'];
export type PetStatus = Open<Schemas['PetStatus']>;
export type Order = Received<Schemas['Order']>;
export type NewOrder = Schemas['NewOrder'];
export type OrderPatch = Schemas['OrderPatch'];
export type OrderStatus = Open<Schemas['OrderStatus']>;
export type Health = Received<Schemas['Health']>;

/** Without `after`, which is part of a page's `next`. */
export type ListPetsQuery = ListQuery<'listPets'>;
export type ListOrdersQuery = ListQuery<'listOrders'>;
