/** A client of the animal store, in which every int64 is an exact `bigint`. */

export type * from '../names.d.ts';
export type { Reply } from './attempt.ts';
export * from './error.ts';
export { parseJson, stringifyJson } from './json.ts';
export type { Metadata } from './metadata.ts';
export type {
  CallOptions,
  CreateOptions,
  Fetch,
  FetchInit,
  FetchResponse,
  RequestOptions,
  StoreOptions,
} from './options.ts';
export type { Page, Pages } from './pages.ts';
export type { Method } from './request.ts';
export * from './store.ts';
