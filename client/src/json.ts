/**
 * JSON with exact integers. Plain `JSON.parse` turns every number into a double, which rounds integers beyond 2^53,
 * and plain `JSON.stringify` rejects a `bigint`.
 */
import { INT64_FIELDS } from './description.ts';

/** At most 100 digits, because `BigInt` takes more than linear time. An int64 has at most 19. */
const INTEGER = /^-?\d{1,100}$/;

/** Returns `JSON.rawJSON`. @throws Error in a runtime that lacks it, and so would round integers */
export function requireRawJson(): (json: string) => unknown {
  // TypeScript's types do not have `rawJSON`.
  const { rawJSON } = Object(JSON);
  if (rawJSON) return rawJSON;
  throw new Error('animal-store-client needs JSON.rawJSON (Node.js 22)');
}

/**
 * Parses JSON. In an int64 field of the store, such as `id`, a safe integer becomes a `bigint`. In any place, a larger integer
 * becomes a `bigint` if it is written as up to 100 digits. Every other number stays a `number`. The inverse of
 * {@link stringifyJson} for everything that the store returns.
 *
 * @throws SyntaxError when the text is not JSON, RangeError when it is nested some thousand levels deep
 * @example const pet = parseJson('{"id":7,"name":"Rex","categoryId":9007199254740993}'); // id: 7n
 */
export function parseJson(text: string): unknown {
  return parseUpTo(text, Infinity);
}

/**
 * Like {@link parseJson}. Only a reviver gets the digits of a number, and each call of one takes about a microsecond. So the text is
 * parsed with a reviver only if plain `JSON.parse` may have rounded an integer.
 *
 * @throws RangeError when the text has more than `maxValues` values
 */
export function parseUpTo(text: string, maxValues: number): unknown {
  // A runtime with `JSON.rawJSON` passes `source` to a reviver, too.
  requireRawJson();
  let values = 0;
  let mayBeRounded = false;

  /** Counts a value and those in it, sets `mayBeRounded`, and converts the fields of objects. */
  function visit(value: unknown) {
    values += 1;
    if (values > maxValues) throw new RangeError();
    if (typeof value === 'number') mayBeRounded ||= Math.abs(value) >= 2 ** 53;
    if (Array.isArray(value)) value.forEach(visit);
    // `Object` makes `null` an object without fields.
    else if (typeof value === 'object') visitFields(Object(value));
  }

  function visitFields(fields: Record<string, unknown>) {
    for (const name of Object.keys(fields)) {
      visit(fields[name]);
      fields[name] = exactValue(name, fields[name]);
    }
  }

  const value = JSON.parse(text);
  visit(value);
  return mayBeRounded ? JSON.parse(text, exactValue) : value;
}

/** The value, or a bigint in its place. Without its digits (`source`), an integer from 2^53 on stays a number. */
function exactValue(name: string, value: unknown, { source = '' } = {}): unknown {
  if (typeof value !== 'number') return value;
  if (Number.isSafeInteger(value)) return INT64_FIELDS.includes(name) ? BigInt(value) : value;
  return INTEGER.test(source) ? BigInt(source) : value;
}

/**
 * Writes JSON with every digit of a `bigint`, which `JSON.stringify` rejects.
 * @example new Response(stringifyJson(pet), { headers: { 'content-type': 'application/json' } });
 */
export function stringifyJson(given: unknown): string {
  const rawJson = requireRawJson();
  const json = JSON.stringify(given, function (this: Record<string, unknown>, name, converted) {
    // `this[name]` is the value before `toJSON`, which some programs add to BigInt.
    const value = typeof this[name] === 'bigint' ? this[name] : converted;
    return typeof value === 'bigint' ? rawJson(String(value)) : value;
  });
  // `JSON.stringify` returns undefined for undefined or a function.
  return json ?? 'null';
}
