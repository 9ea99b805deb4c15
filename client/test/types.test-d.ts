/** Types that the compiler accepts and rejects: checked by `npm run check`, never run. */

import type * as Client from '../src/index.ts';

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function expectType<_T extends true>(): void {}

declare const store: Client.AnimalStore;
declare const binding: Fetcher;

// Every int64 is a bigint, and nothing else is.
expectType<Equal<Client.Pet['id'] | Client.Pet['categoryId'], bigint>>();
expectType<Equal<Client.Pet['name'], string>>();

// Codes and statuses are known, and open: a newer service may send others.
expectType<Equal<Extract<Client.StoreErrorCode, 'pet_not_found'>, 'pet_not_found'>>();
expectType<Equal<Extract<Client.PetStatus, 'sold'>, 'sold'>>();
'a newer status' satisfies Client.PetStatus & Client.NewPet['status'];
'a newer code' satisfies Client.StoreErrorCode;

// A received value can be sent back.
export async function sendBack() {
  const { id, ...pet } = await store.getPet(7n);
  await store.updatePet(id, { status: pet.status });
  await store.createPet(pet);
}

// Operations are properties, not methods: `const { createPet } = store` is no error to a linter. Only the parameter of a method may be
// narrower, as `never` is.
type MethodsOf<T> = {
  [K in keyof T]: Record<K, (...args: never[]) => never> extends Pick<T, K> ? K : never;
}[keyof T];
expectType<Equal<MethodsOf<Omit<Client.Session, 'bookmark'>>, never>>();
expectType<Equal<MethodsOf<Pick<Client.Pages<Client.Pet>, 'page' | 'toArray'>>, never>>();
expectType<Equal<MethodsOf<{ add(pet: Client.Pet): void }>, 'add'>>();

// The global fetch fits, and a service binding.
fetch satisfies Client.Fetch;
((url, init) => binding.fetch(url, init)) satisfies Client.Fetch;

store.updatePet(7n, { status: null });
// @ts-expect-error: an unknown field
store.createPet({ name: 'Rex', categoryId: 3n, stauts: 'sold' });
// @ts-expect-error: a required field is missing
store.createPet({ name: 'Rex' });
// @ts-expect-error: a number may have been rounded
store.getPet(7);
// @ts-expect-error: only creates have an Idempotency-Key
store.updatePet(7n, { name: 'Max' }, { idempotencyKey: 'k' });
// @ts-expect-error: the client follows the pages itself
store.listPets({ after: '7' });
