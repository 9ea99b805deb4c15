/** Types that the compiler accepts and rejects: checked by `npm run typecheck`, never run. */

import type { operations } from '../../client/schema.d.ts';
import type * as Client from '../../client/src/index.ts';

type Store = Client.AnimalStore;
type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectType<_T extends true>(): void {}

declare const store: Store;

// Every method but session is an operation. The compiler names an operation without a method in store.ts.
({}) as Record<Exclude<keyof Store, 'session' | keyof operations>, never> satisfies object;

// Every int64 is a bigint, and nothing else is.
expectType<Equal<Client.Pet['id'] | Client.Pet['categoryId'], bigint>>();
expectType<Equal<Client.Pet['name'], string>>();
expectType<Equal<Client.Order['id'] | Client.Order['petId'], bigint>>();
expectType<Equal<ReturnType<Store['createPet']>, Client.Call<Client.Pet>>>();
expectType<Equal<ReturnType<Store['deletePet']>, Client.Call<void>>>();
expectType<Equal<ReturnType<Store['listOrders']>, Client.Pages<Client.Order>>>();

// Codes and statuses are known, and open: a newer service may send others.
expectType<Equal<string extends Client.ServiceErrorCode ? true : false, false>>();
expectType<Equal<Extract<Client.StoreErrorCode, 'pet_not_found'>, 'pet_not_found'>>();
expectType<Equal<Extract<Client.PetStatus, 'sold'>, 'sold'>>();
'a newer status' satisfies Client.PetStatus & Client.Order['status'] & Client.Pet['status'];
'a newer code' satisfies Client.StoreErrorCode;

store.updatePet(7n, { status: null });
// @ts-expect-error: an unknown field
store.createPet({ name: 'Rex', categoryId: 3n, stauts: 'sold' });
// @ts-expect-error: a required field is missing
store.createPet({ name: 'Rex' });
// @ts-expect-error: a number may have been rounded
store.createPet({ name: 'Rex', categoryId: 3 });
// @ts-expect-error: a number may have been rounded
store.getPet(7);
// @ts-expect-error: a page's `next` has it
store.listPets({ after: '4711' });
// @ts-expect-error: only creates have an Idempotency-Key
store.updatePet(7n, { name: 'Max' }, { idempotencyKey: 'k' });
// @ts-expect-error: not a status of an order
store.updateOrder(5n, { status: 'sold' });
