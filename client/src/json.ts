/**
 * JSON with exact integers: `JSON.parse` rounds integers from 2^53 on, and `JSON.stringify` rejects
 * a `bigint`.
 */
import { INT64_FIELDS } from './schema.ts';

/** A 64-bit integer has at most 20 digits. Longer integers stay numbers. */
const INTEGER = /^-?\d{1,20}$/;

/**
 * Parses JSON. The int64 fields of the store, and all integers from 2^53 on that have up to 20
 * digits, become a `bigint`.
 */
export function parseJson(text: string): unknown {
  return JSON.parse(text, toExact);
}

function toExact(name: string, value: unknown, { source = '' } = {}) {
  if (!INTEGER.test(source)) return value;
  return INT64_FIELDS.includes(name) || !Number.isSafeInteger(value) ? BigInt(source) : value;
}

/**
 * Writes JSON with every digit of a `bigint`; `undefined` stays `undefined`.
 * @throws TypeError for a number that may have been rounded
 */
export function stringifyJson(given: unknown): string | undefined {
  return JSON.stringify(given, function (this: Record<string, unknown>, name, converted) {
    // `this[name]` is the value before `toJSON`, which some programs add to BigInt.
    const value = typeof this[name] === 'bigint' ? this[name] : converted;
    if (Number.isInteger(value) && !Number.isSafeInteger(value))
      throw new TypeError(`${name}: must be a bigint, such as 7n`);
    return typeof value === 'bigint' ? Object(JSON).rawJSON(String(value)) : value;
  });
}
