/** A client of the animal store, in which every int64 is an exact `bigint`. */

export type * from '../schema.d.ts';
export * from './error.ts';
export { parseJson, stringifyJson } from './json.ts';
export * from './store.ts';
export type * from './types.ts';
