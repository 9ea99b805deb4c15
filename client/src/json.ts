/**
 * JSON without losing a digit. Plain `JSON.parse` turns every number into a double, which rounds integers beyond 2^53,
 * and plain `JSON.stringify` rejects a `bigint`.
 */
import { INT64_FIELDS } from './description.ts';
import { must, withoutNull } from './options.ts';

/** Up to 1,000 digits: an int64 has at most 19, and the conversion of very long integers takes more than linear time. */
const INTEGER = /^-?\d{1,1000}$/;

/** TypeScript's types do not have `rawJSON`. */
const engine: JSON & { rawJSON?: (json: string) => unknown } = JSON;

/** @throws Error in a runtime that would round integers */
export function requireRawJson(): (json: string) => unknown {
  if (engine.rawJSON) return engine.rawJSON;
  throw new Error('animal-store-client needs JSON.rawJSON: Node.js 22 or later');
}

/**
 * Parses JSON. A number that is written as up to 1,000 digits becomes a `bigint` if it is an int64 field of the store, such as
 * `id`, or from 2^53 on. Every other number stays a `number`. The inverse of {@link stringifyJson} for everything that the
 * store returns.
 *
 * @throws SyntaxError when the text is not JSON
 * @example const pet = parseJson('{"id":7,"name":"Rex","categoryId":9007199254740993}'); // id: 7n
 */
export function parseJson(text: string): unknown {
  // A runtime with `JSON.rawJSON` has `context.source`, too.
  requireRawJson();
  return JSON.parse(text, (name, value: unknown, context?: { source?: string }) => {
    if (typeof value !== 'number') return value;
    const mayBeBigint = INT64_FIELDS.has(name) || !Number.isSafeInteger(value);
    const digits = context?.source ?? '';
    return mayBeBigint && INTEGER.test(digits) ? BigInt(digits) : value;
  });
}

/**
 * Writes JSON with every digit of a `bigint`, which `JSON.stringify` rejects.
 * @example new Response(stringifyJson(pet), { headers: { 'content-type': 'application/json' } });
 */
export function stringifyJson(value: unknown): string {
  const rawJson = requireRawJson();
  const json = JSON.stringify(value, function (this: Record<string, unknown>, name, each) {
    // Not `each`: some programs add a `toJSON` to BigInt, which makes it a string.
    const original = this[name];
    const written = typeof original === 'bigint' ? original : each;
    return typeof written === 'bigint' ? rawJson(String(written)) : written;
  });
  // `JSON.stringify` returns undefined for undefined or a function.
  return json ?? 'null';
}

/** No compiler rejects the numbers of callers in JavaScript, which may have been rounded already. @throws TypeError */
export function checkInt64Fields(body: object): void {
  for (const [name, value] of Object.entries(withoutNull(body))) {
    const isInt64 = INT64_FIELDS.has(name);
    must(!isInt64 || typeof value === 'bigint', name, 'must be a bigint, such as 7n');
  }
}
