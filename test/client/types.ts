/** Types that the compiler accepts and rejects: checked by `npm run typecheck`, never run. */

import type { operations } from '../../client/schema.d.ts';
import type {
  AnimalStore,
  Call,
  Order,
  Pages,
  Pet,
  PetStatus,
  ServiceErrorCode,
  StoreError,
  StoreErrorCode,
} from '../../client/src/index.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectType<_T extends true>(): void {}

declare const store: AnimalStore;
declare const error: StoreError;

// Every method but session is an operation. The compiler names an operation without a method in store.ts.
({}) as Record<Exclude<keyof AnimalStore, 'session' | keyof operations>, never> satisfies object;

// Every int64 is a bigint, and nothing else is.
expectType<Equal<Pet['id'] | Pet['categoryId'], bigint>>();
expectType<Equal<Pet['name'], string>>();
expectType<Equal<Order['id'] | Order['petId'], bigint>>();
expectType<Equal<ReturnType<AnimalStore['createPet']>, Call<Pet>>>();
expectType<Equal<ReturnType<AnimalStore['deletePet']>, Call<void>>>();
expectType<Equal<ReturnType<AnimalStore['listOrders']>, Pages<Order>>>();

// Codes and statuses are known, and open: a newer service may send others.
if (error.code !== 'pet_not_found') error.code satisfies string;
expectType<Equal<string extends ServiceErrorCode ? true : false, false>>();
expectType<Equal<Extract<StoreErrorCode, 'pet_not_found'>, 'pet_not_found'>>();
expectType<Equal<Extract<PetStatus, 'sold'>, 'sold'>>();
'a newer status' satisfies PetStatus & Order['status'] & Pet['status'];
'a newer code' satisfies StoreErrorCode;

// Fields.
store.createPet({ name: 'Rex', categoryId: 3n });
store.updatePet(7n, { status: null });
// @ts-expect-error: an unknown field
store.createPet({ name: 'Rex', categoryId: 3n, stauts: 'sold' });
// @ts-expect-error: an unknown field
store.updatePet(7n, { nmae: 'Max' });
// @ts-expect-error: an unknown parameter
store.listPets({ stauts: 'sold' });
// @ts-expect-error: the client builds no cursors
store.listPets({ cursor: 'MS4uMi4xNmVmMzR1' });
// @ts-expect-error: an unknown option
store.getOrder(5n, { timeout: 5 });
// @ts-expect-error: only creates have an Idempotency-Key
store.updatePet(7n, { name: 'Max' }, { idempotencyKey: 'k' });
// @ts-expect-error: a required field is missing
store.createPet({ name: 'Rex' });
// @ts-expect-error: a number may have been rounded
store.createPet({ name: 'Rex', categoryId: 3 });
// @ts-expect-error: a number may have been rounded
store.getPet(7);
// @ts-expect-error: not a status of an order
store.updateOrder(5n, { status: 'sold' });
