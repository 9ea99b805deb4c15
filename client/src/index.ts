/** A client of the animal store, in which every int64 is an exact `bigint`. */
export * from './error.ts';
export { parseJson, stringifyJson } from './json.ts';
export type { CallOptions, CreateOptions, StoreOptions } from './options.ts';
export type { Page, Pages } from './pages.ts';
export type * from './schema.ts';
export { type AnimalStore, createAnimalStore } from './store.ts';
