/** A client of the animal store, in which every int64 is an exact `bigint`. */

export type { Reply } from './attempt.ts';
export { type ServiceErrorCode, StoreError, type StoreErrorCode } from './error.ts';
export { parseJson, stringifyJson } from './json.ts';
export type { Metadata } from './metadata.ts';
export type { CallOptions, CreateOptions, StoreOptions } from './options.ts';
export type { Page, Pages } from './pages.ts';
export { type AnimalStore, type Call, createAnimalStore, type Session } from './store.ts';
export type * from './types.ts';
