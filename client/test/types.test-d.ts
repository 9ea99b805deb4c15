/** Types that the compiler accepts and rejects: checked by `npm run check`, never run. */

import * as Client from '../src/index.ts';

// A program can name them.
export type { CallOptions, CreateOptions, Page, Pages, StoreErrorDetails } from '../src/index.ts';

declare const store: Client.AnimalStore;
declare const binding: Fetcher;

// Every int64 is a bigint.
const id: bigint = (await store.getPet(7n)).id;
// Codes and statuses are known, and open: a newer service may send others.
'a newer status' satisfies Client.PetStatus & Client.NewPet['status'];
'a newer code' satisfies Client.StoreErrorCode;
type Known = keyof { [Code in Client.StoreErrorCode as string extends Code ? never : Code]: 0 };
['network_error', 'deadline_exceeded', 'aborted', 'invalid_response'] satisfies Known[];
// A setting can be passed on.
({
  deadlineMs: undefined,
  attemptTimeoutMs: undefined,
  maxAttempts: undefined,
}) satisfies Client.CallOptions;
// A received value can be sent back.
const { id: _, ...pet } = await store.getPet(id);
await store.createPet(pet);
await store.updatePet(7n, { status: pet.status });
// The global fetch fits, and a service binding.
fetch satisfies NonNullable<Client.StoreOptions['fetch']>;
((url, init) => binding.fetch(url, init)) satisfies Client.StoreOptions['fetch'];

// @ts-expect-error: an unknown field
store.createPet({ name: 'Rex', categoryId: 3n, stauts: 'sold' });
// @ts-expect-error: a required field is missing
store.createPet({ name: 'Rex' });
// @ts-expect-error: a number may have been rounded
store.getPet(7);
// @ts-expect-error: only creates have an Idempotency-Key
store.updatePet(7n, { name: 'Max' }, { idempotencyKey: 'k' });
// @ts-expect-error: what is read is unknown
Client.parseJson('{}').name;
// @ts-expect-error: only `createAnimalStore` makes a client
Client.AnimalStore satisfies object;
// @ts-expect-error: the client follows the pages itself
store.listPets({ after: '7' });
