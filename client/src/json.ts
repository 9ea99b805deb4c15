/**
 * JSON without losing a digit. Plain `JSON.parse` turns every number into a double, which rounds integers beyond 2^53,
 * and plain `JSON.stringify` rejects a `bigint`.
 */
import { INT64_FIELDS } from './description.ts';

/** No integer of the store is longer than 100 digits. `BigInt` takes more than linear time for very long texts. */
const INTEGER = /^-?\d{1,100}$/;

/** @throws Error in a runtime that would round integers */
export function requireRawJson(): (json: string) => unknown {
  // TypeScript's types do not have `rawJSON`.
  const { rawJSON } = Object(JSON);
  if (rawJSON) return rawJSON;
  throw new Error('animal-store-client needs JSON.rawJSON (Node.js 22)');
}

/**
 * Parses JSON. A number that is written as up to 100 digits becomes a `bigint` if it is an int64 field of the store, such as
 * `id`, or from 2^53 on. Every other number stays a `number`. The inverse of {@link stringifyJson} for everything that the
 * store returns.
 *
 * @throws SyntaxError when the text is not JSON
 * @example const pet = parseJson('{"id":7,"name":"Rex","categoryId":9007199254740993}'); // id: 7n
 */
export function parseJson(text: string): unknown {
  // A runtime with `JSON.rawJSON` has `context.source`, too.
  requireRawJson();
  return JSON.parse(text, exactValue);
}

/** What {@link parseJson} returns for a value that `JSON.parse` has parsed. */
export function exactValue(
  name: string,
  value: unknown,
  { source = '' }: { source?: string } = {},
): unknown {
  if (typeof value !== 'number') return value;
  const mayBeBigint = INT64_FIELDS.includes(name) || !Number.isSafeInteger(value);
  return mayBeBigint && INTEGER.test(source) ? BigInt(source) : value;
}

/**
 * Writes JSON with every digit of a `bigint`, which `JSON.stringify` rejects.
 * @example new Response(stringifyJson(pet), { headers: { 'content-type': 'application/json' } });
 */
export function stringifyJson(given: unknown): string {
  const rawJson = requireRawJson();
  const json = JSON.stringify(given, function (this: Record<string, unknown>, name, each) {
    // The value before `toJSON`, which some programs add to BigInt.
    const value = typeof this[name] === 'bigint' ? this[name] : each;
    return typeof value === 'bigint' ? rawJson(String(value)) : value;
  });
  // `JSON.stringify` returns undefined for undefined or a function.
  return json ?? 'null';
}
