/** A client of the animal store, in which every int64 is an exact `bigint`. */
export { type ServiceErrorCode, StoreError, type StoreErrorCode } from './error.ts';
export type { Metadata } from './metadata.ts';
export type { CreateOptions, Reply } from './operations.ts';
export type { Page, Pages } from './pages.ts';
export type { CallOptions } from './send.ts';
export {
  type AnimalStore,
  type Call,
  createAnimalStore,
  type Session,
  type StoreOptions,
} from './store.ts';
export type * from './types.ts';
