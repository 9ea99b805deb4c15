/**
 * JSON without losing a digit: `JSON.parse` turns every number into a double, which is exact up to 2^53.
 * `lossless-json` keeps the digits; int64 fields of the description become a `bigint`.
 */
import { isLosslessNumber, parse, stringify } from 'lossless-json';
import type { components } from '../schema.d.ts';

type Schemas = components['schemas'];
type BigIntKeys<T> = T extends string | readonly unknown[]
  ? never
  : { [K in keyof T]-?: T[K] extends bigint | null | undefined ? K : never }[keyof T];
/** The names of the int64 fields of every schema. */
type Int64Field = { [S in keyof Schemas]: BigIntKeys<Schemas[S]> }[keyof Schemas];

/** The compiler compares these with the description. */
const INT64_FIELDS: Record<Int64Field, true> = { id: true, categoryId: true, petId: true };

/** @throws SyntaxError when the text is not JSON, or an int64 is not an integer. */
export function parseJson(text: string): unknown {
  return parse(text, (name, value) => {
    if (!isLosslessNumber(value)) return value;
    return Object.hasOwn(INT64_FIELDS, name) ? BigInt(value.value) : Number(value.value);
  });
}

/** @throws TypeError when an int64 is not a `bigint`: a number may have been rounded already. */
export function stringifyJson(body: object): string {
  for (const [name, value] of Object.entries(body)) {
    // JSON omits undefined members.
    if (value !== undefined && Object.hasOwn(INT64_FIELDS, name)) requireBigInt(name, value);
  }
  // `stringify` returns undefined for a function only.
  return stringify(body) ?? '';
}

/** For callers in JavaScript: no compiler rejects their numbers. */
export function requireBigInt(name: string, value: unknown): void {
  if (typeof value !== 'bigint') throw new TypeError(`${name}: must be a bigint, such as 7n`);
}
